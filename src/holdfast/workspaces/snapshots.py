"""Uncommitted work, kept under hidden refs: `refs/holdfast/<session>/<number>` (SPEC D8).

A snapshot is a commit whose tree is the work tree, whose parent is HEAD at that time, and whose
message says which round it belongs to and what was left out.

Rule 1: neither the user's index nor any branch is touched.
Rule 2: nothing changed, nothing taken. A number is used once: one that a crash left behind, taken
and not yet reported, is reported, not overwritten.
Rule 3: going back first keeps what is there now, and moves files only: commits and HEAD stay.
"""

import re

import msgspec

from holdfast.core.ids import SessionId
from holdfast.core.truth import Workspace
from holdfast.core.value import Value
from holdfast.workspaces.errors import GitFailed, NoSnapshot, WorkspaceError
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.place import locate
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.tree import Captured, capture, switch

KEPT = 100
_SESSION = re.compile(r"[0-9a-f]{4,64}")


class Note(Value):
    """What a snapshot's message says about it."""

    round: int = 0
    left_out: tuple[str, ...] = ()


class Snapshot(Value):
    number: int
    commit: str
    tree: str
    round: int = 0
    left_out: tuple[str, ...] = ()
    changed: bool = True  # False: nothing did since this one, which is the newest there is


def ref_of(session: SessionId, number: int | str) -> str:
    """A session's id goes into a ref and a path: it is checked, whoever gave it."""
    if not _SESSION.fullmatch(session):
        raise WorkspaceError(f"{session!r} is not the id of a session.")
    return f"refs/holdfast/{session}/{number}"


async def take(
    workspace: Workspace,
    session: SessionId,
    number: int,
    *,
    round: int = 0,
    again: bool = False,
    by: Git = PLAIN,
) -> Snapshot:
    """`again`: also if nothing changed, to give the state as it is another number and round."""
    async with shadow(locate(workspace), by=by) as git:
        return await _take(git, session, number, round=round, again=again)


async def restore(
    workspace: Workspace, session: SessionId, number: int, *, by: Git = PLAIN
) -> Snapshot:
    """Puts the tree back as it was. Gives back the snapshot of what was there until now."""
    async with shadow(locate(workspace), by=by) as git:
        kept = await _kept(git, session)
        target = next((s for s in kept if s.number == number), None)
        if target is None:
            raise NoSnapshot(f"Session {session} has no snapshot {number}.")
        highest = max(s.number for s in kept)
        before = await _take(git, session, highest + 1, round=kept[-1].round)
        await switch(git, await git.line("write-tree"), target.tree)
    return before


async def listed(
    workspace: Workspace, session: SessionId, *, by: Git = PLAIN
) -> tuple[Snapshot, ...]:
    """Oldest first."""
    async with shadow(locate(workspace), by=by) as git:
        return tuple(await _kept(git, session))


async def prune(
    workspace: Workspace, session: SessionId, *, keep: int = KEPT, by: Git = PLAIN
) -> int:
    """Lets go of the oldest; the first (how it was at the start) and the newest `keep` stay."""
    async with shadow(locate(workspace), by=by) as git:
        kept = await _kept(git, session)
        gone = [s for s in kept[: -keep if keep else None] if s.number]
        stdin = b"".join(
            f"delete {ref_of(session, s.number)}\0{s.commit}\0".encode() for s in gone
        )
        await git.git("update-ref", "--stdin", "-z", stdin=stdin)
    return len(gone)


async def newest(git: Shadow, session: SessionId) -> Snapshot | None:
    kept = await _kept(git, session)
    return kept[-1] if kept else None


async def keep(
    git: Shadow, session: SessionId, number: int, captured: Captured, *, round: int = 0
) -> Snapshot:
    """Writes the commit and the ref. The ref is only ever created: `GitFailed` if it is there."""
    head = await git.commit_at("HEAD")
    note = msgspec.json.encode(Note(round=round, left_out=captured.left_out)).decode()
    message = f"Snapshot {number} of session {session}\n\n{note}\n"
    commit = await git.commit(captured.tree, [head] if head else [], message)
    await git.git("update-ref", ref_of(session, number), commit, "0" * len(commit))
    return Snapshot(
        number=number,
        commit=commit,
        tree=captured.tree,
        round=round,
        left_out=captured.left_out,
    )


async def _take(
    git: Shadow, session: SessionId, number: int, *, round: int, again: bool = False
) -> Snapshot:
    captured = await capture(git)
    last = await newest(git, session)
    if last and last.tree == captured.tree and (last.number >= number or not again):
        reported = last.number < number
        return msgspec.structs.replace(last, changed=not reported, left_out=captured.left_out)
    try:
        free = max(number, last.number + 1 if last else 0)
        return await keep(git, session, free, captured, round=round)
    except GitFailed:
        last = await newest(git, session)
        if last is None or last.number < number:
            raise  # not a number taken at the same time: a real failure
        return await keep(git, session, last.number + 1, captured, round=round)


async def _kept(git: Shadow, session: SessionId) -> list[Snapshot]:
    form = "%(refname)%00%(objectname)%00%(tree)%00%(contents:body)%00"
    out = (await git.git("for-each-ref", f"--format={form}", ref_of(session, ""))).text
    fields = out.split("\0")
    found = []
    for name, commit, tree, body in zip(
        fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=False
    ):
        number = name.strip().rpartition("/")[2]
        if number.isdigit():
            note = _note(body)
            found.append(
                Snapshot(
                    number=int(number),
                    commit=commit,
                    tree=tree,
                    round=note.round,
                    left_out=note.left_out,
                )
            )
    return sorted(found, key=lambda s: s.number)


def _note(body: str) -> Note:
    """A ref can be written by anybody: a message that is not ours says nothing."""
    try:
        return msgspec.json.decode(body, type=Note)
    except msgspec.DecodeError:
        return Note()
