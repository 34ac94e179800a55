"""The end of a work tree, and its return: remove, rebuild, and what a killed git leaves behind.

Rule 1: only folders that we made are removed or rebuilt: the note beside them says so.
Rule 2: removing a clean tree keeps its branch and needs no question. Uncommitted files, commits that
nothing else holds, and whatever cannot be looked at are `WouldLose` (SPEC H2, P10).
Rule 3: a tree is moved aside before it is deleted: half a tree never looks like somebody's work.
Rule 4: a folder with anything in it is never rebuilt over, unless its note says that it is not done:
then it is our own half, and is finished.
"""

import asyncio
import contextlib
import os
import shutil
from pathlib import Path

from holdfast.core.ids import SessionId
from holdfast.core.truth import Workspace
from holdfast.core.value import Value, replace
from holdfast.workspaces.errors import (
    FolderMissing,
    Occupied,
    WorkspaceError,
    WouldLose,
)
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.place import branch_of, checkouts, locate, nowhere
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.snapshots import Snapshot, newest
from holdfast.workspaces.tree import fill
from holdfast.workspaces.truth import dirty_lines
from holdfast.workspaces.worktree import (
    Note,
    clear_entries,
    note_path,
    point,
    read_note,
    register,
    write_note,
)

ELSEWHERE = ("--branches", "--remotes", "--tags")
LOCK_AGE = 600.0  # seconds after which a lock that nobody holds open is a dead one


class Rebuilt(Value):
    workspace: Workspace
    snapshot: str  # the commit whose uncommitted work is in it; empty: the branch alone


# --- remove ---------------------------------------------------------------------------------------


async def remove(
    workspace: Workspace, *, force: bool = False, delete_branch: bool = False, by: Git = PLAIN
) -> None:
    """`force` is a person's recorded decision to lose what `WouldLose` named."""
    path = Path(workspace.path)
    if read_note(path) is None:
        raise WorkspaceError(f"{path} was not made by Holdfast, so it is not removed.")
    common = Path(workspace.repo)
    if something_at(path) and not force:
        await check_nothing_is_lost(workspace, by)
    if delete_branch:
        await _check_branch(workspace, by, force=force)
    await asyncio.to_thread(_delete, path, common)
    if delete_branch:
        async with shadow(nowhere(common), by=by) as git:
            await git.git("update-ref", "-d", f"refs/heads/{workspace.branch}")
    note_path(path).unlink(missing_ok=True)


def something_at(path: Path) -> bool:
    return os.path.lexists(path)


def _delete(path: Path, common: Path) -> None:
    aside = path.with_name(f".{path.name}.removed")
    shutil.rmtree(aside, ignore_errors=True)
    if path.is_symlink():
        path.unlink()  # whatever it leads to is not ours
    elif path.exists():
        path.rename(aside)
    if common.is_dir():
        clear_entries(common, path)
    shutil.rmtree(aside, ignore_errors=True)


async def check_nothing_is_lost(workspace: Workspace, by: Git) -> None:
    """`WouldLose` names what removing it would lose."""
    path = workspace.path
    try:
        place = locate(workspace)
        async with shadow(place, by=by) as git:
            dirty = await dirty_lines(git)
            loose = [] if branch_of(git.folder) else await _only_here(git, "HEAD")
            inner = await _populated_submodules(git)
    except (WorkspaceError, OSError) as error:
        raise WouldLose(f"It cannot be told what is in {path}: {error}") from error
    if dirty:
        raise WouldLose(f"{path} has uncommitted work", [line[3:] for line in dirty])
    if loose:
        raise WouldLose(f"{path} has commits that are on no branch", loose)
    if inner:
        raise WouldLose(f"{path} has submodules whose own work cannot be looked at", inner)


async def _check_branch(workspace: Workspace, by: Git, *, force: bool) -> None:
    async with shadow(nowhere(Path(workspace.repo)), by=by) as git:
        only = await _only_here(git, f"refs/heads/{workspace.branch}", but=workspace.branch)
    if only and not force:
        raise WouldLose(f"The branch {workspace.branch} has commits that are nowhere else", only)


async def _only_here(git: Shadow, ref: str, *, but: str = "") -> list[str]:
    if not await git.commit_at(ref):
        return []
    others = [f"--exclude={but}"] if but else []
    listed = await git.git("log", "--format=%h %s", ref, "--not", *others, *ELSEWHERE, "--")
    return listed.text.splitlines()


async def _populated_submodules(git: Shadow) -> list[str]:
    """A clean look does not go into them, and their git folders go with the tree's entry."""
    staged = await git.git("ls-files", "-z", "--stage")
    links = [row.partition(b"\t")[2] for row in staged.names if row.startswith(b"160000")]
    names = [os.fsdecode(link) for link in links]
    return [name for name in names if something_at(git.place.tree / name / ".git")]


# --- rebuild --------------------------------------------------------------------------------------


async def rebuild(
    workspace: Workspace, snapshot_ref: str | None = None, *, by: Git = PLAIN
) -> Rebuilt:
    """A lost tree, from its branch and the newest snapshot (SPEC D8)."""
    path, common = Path(workspace.path), Path(workspace.repo)
    _check_room(workspace)
    async with shadow(nowhere(common), by=by) as git:
        saved = await git.commit_at(snapshot_ref) if snapshot_ref else ""
        tip = await _tip(git, workspace, saved)
        await point(git, workspace.branch, tip)
        tip_tree = await git.tree_of(tip)
        files = await _merged(git, tip, saved) if saved else tip_tree
    note = Note(
        repo=workspace.repo,
        branch=workspace.branch,
        base=workspace.base,
        files=files or tip_tree,
        snapshot=saved if files else "",
    )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_note(path, note)  # until it says done nobody has worked there
    clear_entries(common, path)
    new = register(common, path, workspace.branch)
    async with shadow(new, by=by) as git:
        await fill(git, note.files, index=tip_tree)
    write_note(path, replace(note, done=True))
    return Rebuilt(workspace=workspace, snapshot=note.snapshot)


def gone(path: Path) -> bool:
    """Nothing that anybody worked in is there: no folder, an empty one, or our own half of one."""
    if not something_at(path):
        return True
    return _half_made(path) or _empty(path)


def _half_made(path: Path) -> bool:
    note = read_note(path)
    return note is not None and not note.done


def _empty(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink() and not any(path.iterdir())
    except OSError:
        return False  # who cannot look cannot say so


async def source(workspace: Workspace, session: SessionId, *, by: Git = PLAIN) -> str:
    """What `rebuild` would use, in words. Whatever would stop it stops this; nothing is changed."""
    _check_room(workspace)
    last = await newest_snapshot(workspace, session, by=by)
    async with shadow(nowhere(Path(workspace.repo)), by=by) as git:
        tip = await _tip(git, workspace, last.commit if last else "")
    branch = f"the branch {workspace.branch} at {tip[:7]}"
    return f"{branch} and snapshot {last.number} of round {last.round}" if last else branch


def _check_room(workspace: Workspace) -> None:
    path, common = Path(workspace.path), _repository(workspace)
    if not gone(path):
        raise Occupied(f"There is something at {path}: it is not overwritten.")
    for place in checkouts(common):
        if place.tree != path and branch_of(place.git_dir) == workspace.branch:
            raise Occupied(f"The branch {workspace.branch} is checked out in {place.tree}.")


def _repository(workspace: Workspace) -> Path:
    common = Path(workspace.repo)
    if not (common / "objects").is_dir():
        raise FolderMissing(f"The repository {common} is not there.")
    return common


async def newest_snapshot(
    workspace: Workspace, session: SessionId, *, by: Git = PLAIN
) -> Snapshot | None:
    """From the repository alone: the tree need not be there."""
    async with shadow(nowhere(_repository(workspace)), by=by) as git:
        return await newest(git, session)


async def _tip(git: Shadow, workspace: Workspace, saved: str) -> str:
    """Where the branch stands. If it is gone, the snapshot remembers where it stood."""
    tip = await git.commit_at(f"refs/heads/{workspace.branch}")
    tip = tip or (saved and await git.commit_at(f"{saved}^"))
    tip = tip or await git.commit_at(workspace.base)
    if not tip:
        raise FolderMissing(
            f"Neither the branch {workspace.branch} nor its first commit nor a snapshot is in "
            f"{workspace.repo}."
        )
    return tip


async def _merged(git: Shadow, tip: str, saved: str) -> str:
    """The snapshot's files, on top of commits that came after it; empty if they contradict."""
    if await git.commit_at(f"{saved}^") == tip:
        return await git.tree_of(saved)
    merged = await git.git("merge-tree", "--write-tree", tip, saved, ok=(0, 1, 128, 129))
    return merged.line if merged.code == 0 else ""


# --- locks ----------------------------------------------------------------------------------------


def clear_dead_lock(workspace: Workspace, *, now: float) -> bool:
    """Removes an `index.lock` that a killed git left in a tree we made: only if it is old and no
    process has it open. `now` is in seconds since 1970."""
    if read_note(Path(workspace.path)) is None:
        return False
    lock = locate(workspace).git_dir / "index.lock"
    try:
        age = now - lock.lstat().st_mtime
    except FileNotFoundError:
        return False
    if age < LOCK_AGE or _held_open(lock):
        return False
    lock.unlink(missing_ok=True)
    return True


def _held_open(path: Path) -> bool:
    """As far as can be told: other users' processes do not show theirs."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(link) == str(path):  # noqa: PTH115
                return True
    return False
