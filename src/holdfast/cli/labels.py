"""`rename pin tag archive rm restore queue`: a session among others, and what waits to be sent."""

import sys

import click

from holdfast.cli.output import USAGE, connect, json_option, note, say_json
from holdfast.cli.sessions import tell
from holdfast.client import ApiError, Client
from holdfast.views.document import PurgedOut, QueuedOut, SessionOut
from holdfast.views.timeline import clean
from holdfast.wire import Done, EditIn, QueueOut, RenameIn, TagIn, TrashIn, UndoIn

LINE = 100  # characters of a queued prompt in the list


@click.command()
@click.argument("id")
@click.argument("title")
@json_option
def rename(*, id: str, title: str, as_json: bool) -> int:
    """Give session ID another title."""
    body = RenameIn(title=title)
    return tell(connect(), id, "rename", body, as_json=as_json, said="Renamed")


@click.command()
@click.argument("id")
@click.option("--undo", is_flag=True, help="No longer.")
@json_option
def pin(*, id: str, undo: bool, as_json: bool) -> int:
    """Keep session ID at the top of the list."""
    said = "Unpinned" if undo else "Pinned"
    return tell(connect(), id, "pin", UndoIn(undo=undo), as_json=as_json, said=said)


@click.command()
@click.argument("id")
@click.option("--undo", is_flag=True, help="Take it out again.")
@json_option
def archive(*, id: str, undo: bool, as_json: bool) -> int:
    """Put session ID out of sight. It keeps everything; `ls --archived` shows it."""
    said = "Took out of the archive" if undo else "Archived"
    return tell(connect(), id, "archive", UndoIn(undo=undo), as_json=as_json, said=said)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("id")
@click.argument("tags", nargs=-1, type=click.UNPROCESSED)
@json_option
def tag(*, id: str, tags: tuple[str, ...], as_json: bool) -> int:
    """Put TAGS on session ID: +this puts one on, -that takes one off. Without any, show them."""
    client = connect()
    if not tags:
        session = client.get(f"/api/sessions/{id}", SessionOut)
        if as_json:
            say_json(session)
        else:
            print("\n".join(clean(t) for t in session.tags) or "No tags.")
        return 0
    body = TagIn(
        add=tuple(t.removeprefix("+") for t in tags if not t.startswith("-")),
        remove=tuple(t.removeprefix("-") for t in tags if t.startswith("-")),
    )
    return tell(client, id, "tag", body, as_json=as_json, said="Tagged")


# --- the trash ------------------------------------------------------------------------------------


@click.command()
@click.argument("id")
@click.option("-y", "--yes", "--force", is_flag=True, help="Let uncommitted work go.")
@click.option("--now", is_flag=True, help="For good, at once: it cannot be brought back.")
@json_option
def rm(*, id: str, yes: bool, now: bool, as_json: bool) -> int:
    """Move session ID to the trash, and its work tree with it; the branch stays.

    `hold restore` brings both back for 30 days (`trash_days` in the configuration); then the trash
    is emptied, and the session is removed for good. Work that is not committed is asked about.
    """
    client = connect()
    if now and not yes and not _sure(client, id, as_json=as_json):
        return USAGE
    done = _trashed(client, id, yes=yes, as_json=as_json)
    if done is None:
        return USAGE
    found = done.session.id
    if now:
        return _purge(client, found, as_json=as_json)
    if as_json:
        say_json(done.session)
    else:
        print(f"Moved to the trash: {found}" if done.changed else f"Nothing to do: {found}")
        print(f"Bring it back with: hold restore {found}")
    return 0


def _trashed(client: Client, id: str, *, yes: bool, as_json: bool) -> Done | None:
    try:
        return client.post(f"/api/sessions/{id}/trash", TrashIn(force=yes), Done)
    except ApiError as error:
        if error.code != "would_lose" or not _may_ask(as_json=as_json):
            raise
        note(error.message)
    if not click.confirm("Let it go?", default=False, err=True):
        note("Nothing was changed.")
        return None
    return client.post(f"/api/sessions/{id}/trash", TrashIn(force=True), Done)


def _sure(client: Client, id: str, *, as_json: bool) -> bool:
    if not _may_ask(as_json=as_json):
        note("--now cannot be taken back: say --yes too.")
        return False
    session = client.get(f"/api/sessions/{id}", SessionOut)
    named = f"{session.id} ({clean(session.title)})"
    return click.confirm(f"Remove {named} for good?", default=False, err=True)


def _purge(client: Client, id: str, *, as_json: bool) -> int:
    gone = client.post(f"/api/sessions/{id}/purge", {}, PurgedOut)
    if as_json:
        say_json(gone)
    else:
        print(f"Removed for good: {id}" if gone.done else f"Is being removed for good: {id}")
    return 0


def _may_ask(*, as_json: bool) -> bool:
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()


@click.command()
@click.argument("id")
@json_option
def restore(*, id: str, as_json: bool) -> int:
    """Take session ID out of the trash, with its work tree as it was.

    What was put there more than 30 days ago (`trash_days`) is removed for good.
    """
    return tell(connect(), id, "restore", {}, as_json=as_json, said="Restored")


# --- the queue ------------------------------------------------------------------------------------


@click.command()
@click.argument("id")
@click.option("--edit", nargs=2, metavar="INPUT TEXT", help="Say this instead.")
@click.option("--drop", metavar="INPUT", help="Do not send it.")
@json_option
def queue(*, id: str, edit: tuple[str, str] | None, drop: str | None, as_json: bool) -> int:
    """What waits to be sent to session ID. INPUT is its number here, or the beginning of its id."""
    if edit and drop:
        raise click.UsageError("--edit or --drop: one of them.")
    client = connect()
    path = f"/api/sessions/{id}/queue"
    found = client.get(path, QueueOut)
    if edit:
        chosen = _chosen(found.queue, edit[0])
        client.post(f"{path}/{chosen}", EditIn(text=edit[1]), Done)
    if drop:
        client.call("DELETE", f"{path}/{_chosen(found.queue, drop)}")
    if edit or drop:
        found = client.get(path, QueueOut)
    _show(client, id, found, as_json=as_json)
    return 0


def _chosen(queue: tuple[QueuedOut, ...], given: str) -> str:
    if given.isdigit() and 1 <= int(given) <= len(queue):
        return queue[int(given) - 1].id
    fitting = [q.id for q in queue if q.id.startswith(given)]
    if len(fitting) != 1:
        many = f"{given!r} is the beginning of {len(fitting)} of them."
        raise click.UsageError(many if fitting else f"Nothing in the queue is called {given!r}.")
    return fitting[0]


def _show(client: Client, id: str, found: QueueOut, *, as_json: bool) -> None:
    if as_json:
        say_json(found)
        return
    for n, waiting in enumerate(found.queue, 1):
        words = " ".join(clean(waiting.text).split())
        print(f"{n:2}  {waiting.id[:8]}  {words[:LINE]}")
    if not found.queue:
        print("Nothing is waiting.")
    elif found.held:
        print(f"Held until it goes on: hold resume {id}")
