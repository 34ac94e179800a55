"""`diff` and `apply`: a session's work, seen and taken (SPEC H4)."""

import shutil
import sys

import click

from holdfast.cli.output import coloured, connect, json_option, note, paint, say_json
from holdfast.client import ApiError, Client, DaemonDown, DaemonLost
from holdfast.views.changes import AppliedOut, DiffOut, applied, counted
from holdfast.views.document import SessionOut
from holdfast.views.timeline import clean
from holdfast.wire import ApplyIn

PAINTS = {"+++": "bold", "---": "bold", "diff --git": "bold"}
PAINTS |= {"+": "green", "-": "red", "@@": "blue"}  # the first that fits


@click.command()
@click.argument("id")
@click.option("--stat", is_flag=True, help="Which files, and how much of each.")
@click.option("--path", help="One file alone.")
@json_option
def diff(*, id: str, stat: bool, path: str | None, as_json: bool) -> int:
    """What session ID changed since it began: committed, uncommitted and untracked.

    In a pipe it is a patch that `git apply` takes, binary files too.
    """
    from urllib.parse import quote

    client = connect()
    if as_json or path is not None:
        asked = f"text={'false' if stat else 'true'}"
        asked += f"&path={quote(path)}" if path is not None else ""
        found = client.get(f"/api/sessions/{id}/diff?{asked}", DiffOut)
        if as_json:
            say_json(found)
        else:
            _print("".join(file.patch for file in found.files).encode())
        return 0
    _print(client.call("GET", f"/api/sessions/{id}/patch?stat={'true' if stat else 'false'}"))
    return 0


def _print(patch: bytes) -> None:
    """To a pipe byte by byte; to a person without what a terminal would obey."""
    if not patch.strip():
        note("Nothing changed.")
        return
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(patch)
        return
    lines = clean(patch.decode("utf-8", "replace")).splitlines()
    text = "\n".join(_painted(line) for line in lines) + "\n"
    if len(lines) < shutil.get_terminal_size().lines:
        sys.stdout.write(text)
    else:
        click.echo_via_pager(text, color=coloured())


def _painted(line: str) -> str:
    return next((paint(line, how) for sign, how in PAINTS.items() if line.startswith(sign)), line)


@click.command()
@click.argument("id")
@click.option("--squash", is_flag=True, help="As one commit.")
@click.option("--to", metavar="BRANCH", help="Default: the branch your repository is on.")
@json_option
def apply(*, id: str, squash: bool, to: str | None, as_json: bool) -> int:
    """Bring the work of session ID into your branch.

    Over uncommitted changes or a conflict nothing is done, and both sides stay as they are. A second
    time it brings what came since.
    """
    client = connect()
    done = client.post(f"/api/sessions/{id}/apply", ApplyIn(squash=squash, to=to), AppliedOut)
    if as_json:
        say_json(done)
    elif not done.moved:
        print(f"Nothing to do: {clean(done.branch)} has all of it.")
    else:
        print(clean(applied(done)))
        print(f"Take it back with: git reset --keep {done.before[:12]}  (on that branch)")
    return 0


def outcome(client: Client, session: SessionOut) -> list[str]:
    """At the end of a run: what changed, and how to take it; nothing where git has nothing to say."""
    if not session.workspace.branch:
        return []
    try:
        found = client.get(f"/api/sessions/{session.id}/diff?text=false", DiffOut)
    except (ApiError, DaemonDown, DaemonLost):
        return []
    told = counted(len(found.files), found.added, found.removed)
    if not found.files:
        return [f"  {told}"]
    lines = [f"  {told}   See it: hold diff {session.id}"]
    in_place = session.workspace.repo == f"{session.workspace.path}/.git"
    return lines if in_place else [*lines, f"Take it with: hold apply {session.id}"]
