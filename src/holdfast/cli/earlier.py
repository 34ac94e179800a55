"""`fork`, `rewind`: going on from an earlier place."""

import click

from holdfast.cli.output import connect, json_option, note, say_json
from holdfast.wire import Created, ForkIn, RewindIn, RewoundOut


@click.command()
@click.argument("id")
@click.option("--at", type=click.IntRange(0), metavar="ROUND", help="Only up to this round.")
@json_option
def fork(*, id: str, at: int | None, as_json: bool) -> int:
    """Make another session that begins with what was said and done in session ID.

    It has a work tree and a branch of its own; session ID stays as it is.
    """
    made = connect().post(f"/api/sessions/{id}/fork", ForkIn(at=at), Created)
    for line in made.notes:
        note(line)
    if as_json:
        say_json(made)
        return 0
    where = made.session.workspace
    at_branch = f", branch {where.branch}" if where.branch else ""
    print(f"Session {made.id} in {where.path}{at_branch}")
    print(f'Go on with: hold send {made.id} "..."   or: hold resume {made.id}')
    return 0


@click.command()
@click.argument("id")
@click.option("--to", type=click.IntRange(0), metavar="ROUND", required=True, help="0: the start.")
@click.option("--code-only", is_flag=True, help="The files; not what was said.")
@click.option("--conversation-only", is_flag=True, help="What was said; not the files.")
@json_option
def rewind(*, id: str, to: int, code_only: bool, conversation_only: bool, as_json: bool) -> int:
    """Take session ID back to the end of round ROUND: its files, and what was said.

    What is in its files is snapshotted first; nothing is lost, and the answer says how to undo it.
    """
    if code_only and conversation_only:
        raise click.UsageError("--code-only or --conversation-only: one of them.")
    wanted = RewindIn(to=to, code=not conversation_only, conversation=not code_only)
    done = connect().post(f"/api/sessions/{id}/rewind", wanted, RewoundOut)
    if as_json:
        say_json(done)
        return 0
    for line in done.notes:
        note(line)
    what = "The files are" if code_only else "What was said is" if conversation_only else "It is"
    print(f"{what} as at the end of round {to}: {done.session.id}")
    print(f"Undo with: {done.undo}")
    return 0
