"""Uncommitted work, kept under hidden refs: `refs/holdfast/<session>/<number>` (SPEC D8).

A snapshot is a commit whose tree is the work tree, whose parent is HEAD at that time, and whose
message says which round it belongs to and what was left out.

Rule 1: neither the user's index nor any branch is touched.
Rule 2: nothing changed, nothing taken. A number is used once: one that a crash left behind, taken
and not yet reported, is reported, not overwritten.
Rule 3: going back first keeps what is there now, and moves files only: commits and HEAD stay.
Rule 4: all are kept as long as their session is: a rewind may go to any round.
"""

import json
import re
from pathlib import Path

from holdfast.core.ids import SessionId
from holdfast.core.truth import Workspace
from holdfast.core.value import Value, replace
from holdfast.workspaces.errors import NoSnapshot, WorkspaceError
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.place import locate, nowhere
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.tree import Captured, capture, switch

_FIELDS = ("refname", "objectname", "tree", "parent", "contents:body")
_SESSION = re.compile(r"[0-9a-f]{4,64}")


class Snapshot(Value):
    number: int
    commit: str
    tree: str
    head: str = ""  # the commit that was checked out
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
    workspace: Workspace, session: SessionId, number: int, *, round: int = 0, by: Git = PLAIN
) -> Snapshot:
    """Puts the tree back as it was. Gives back the snapshot of what was there until now, which is of
    round `round`."""
    async with shadow(locate(workspace), by=by) as git:
        kept = await all_of(git, session)
        target = next((s for s in kept if s.number == number), None)
        if target is None:
            raise NoSnapshot(f"Session {session} has no snapshot {number}.")
        before = await _take(git, session, kept[-1].number + 1, round=round)
        await switch(git, before.tree, target.tree)
    return before


async def listed(
    workspace: Workspace, session: SessionId, *, by: Git = PLAIN
) -> tuple[Snapshot, ...]:
    """Oldest first."""
    async with shadow(locate(workspace), by=by) as git:
        return tuple(await all_of(git, session))


async def discard(repo: Path, session: SessionId, *, by: Git = PLAIN) -> int:
    """All of them, whatever has become of the work tree. Git clears away what only they held."""
    async with shadow(nowhere(repo), by=by) as git:
        kept = (await git.git("for-each-ref", "--format=%(refname)", ref_of(session, ""))).text
        names = kept.split()
        stdin = b"".join(f"delete {name}\0\0".encode() for name in names)
        await git.git("update-ref", "--stdin", "-z", stdin=stdin)
    return len(names)


async def newest(git: Shadow, session: SessionId) -> Snapshot | None:
    kept = await all_of(git, session)
    return kept[-1] if kept else None


async def keep(
    git: Shadow,
    session: SessionId,
    number: int,
    captured: Captured,
    *,
    head: str,
    round: int = 0,
    over: bool = False,
) -> Snapshot:
    """Writes the commit and the ref. Unless `over`, the ref is only ever created."""
    note = json.dumps({"round": round, "left_out": captured.left_out})
    message = f"Snapshot {number} of session {session}\n\n{note}\n"
    commit = await git.commit(captured.tree, [head] if head else [], message)
    before = [] if over else ["0" * len(commit)]
    await git.git("update-ref", ref_of(session, number), commit, *before)
    return Snapshot(
        number=number,
        commit=commit,
        tree=captured.tree,
        head=head,
        round=round,
        left_out=captured.left_out,
    )


async def _take(
    git: Shadow, session: SessionId, number: int, *, round: int, again: bool = False
) -> Snapshot:
    captured = await capture(git)
    head = await git.commit_at("HEAD")
    last = await newest(git, session)
    if last and (last.tree, last.head) == (captured.tree, head):
        if last.number >= number:
            return last  # a crash came between taking it and telling of it
        if not again:
            return replace(last, changed=False)
    free = max(number, last.number + 1 if last else 0)
    return await keep(git, session, free, captured, head=head, round=round)


async def all_of(git: Shadow, session: SessionId) -> list[Snapshot]:
    form = "".join(f"%({field})%00" for field in _FIELDS)
    out = (await git.git("for-each-ref", f"--format={form}", ref_of(session, ""))).text
    values = out.split("\0")
    rows = zip(*(values[n :: len(_FIELDS)] for n in range(len(_FIELDS))), strict=False)
    found = []
    for name, commit, tree, parent, body in rows:
        number = name.rpartition("/")[2]
        if number.isdigit():
            round, left_out = _note(body)
            found.append(
                Snapshot(
                    number=int(number),
                    commit=commit,
                    tree=tree,
                    head=parent,
                    round=round,
                    left_out=left_out,
                )
            )
    return sorted(found, key=lambda s: s.number)


def _note(body: str) -> tuple[int, tuple[str, ...]]:
    """A ref can be written by anybody: a message that is not ours says nothing."""
    try:
        note = json.loads(body)
        return int(note["round"]), tuple(str(name) for name in note["left_out"])
    except (ValueError, TypeError, KeyError):
        return 0, ()
