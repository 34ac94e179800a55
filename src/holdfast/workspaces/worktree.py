"""Making the folder a session works in: a work tree of its own, or the user's in place (SPEC H2).

Rule 1: the user's tree, index and branches are only read.
Rule 2: what will be made is written down first (`<state>/worktrees/<session>.json`). Whoever is
called again with the same session finishes that one: same commit, same branch, same files.
Rule 3: until the note says done nobody has worked there, so a half-made tree may be overwritten;
after that it is never filled again.
Rule 4: the entry in the repository is written by us, not by `git worktree add`: three short files,
put there in one step, and nothing of the repository's settings has a say.
"""

import json
import os
import re
import shutil
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from holdfast.core.ids import SessionId
from holdfast.core.truth import Workspace
from holdfast.core.value import Value, replace
from holdfast.workspaces import snapshots
from holdfast.workspaces.errors import FolderMissing, GitFailed, NoCommitYet, NotARepository
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.place import (
    Place,
    branch_of,
    discover,
    entries,
    head_of,
    nowhere,
    read_plain,
)
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.tree import Captured, capture, fill, put
from holdfast.workspaces.truth import dirty_lines

SLUG = 40  # characters


class Repo(Value):
    """A repository as the user stands in it."""

    top: Path
    common: Path
    head: str
    branch: str  # empty: HEAD is detached
    place: Place


class Created(Value):
    workspace: Workspace
    left_behind: int  # uncommitted changes of the user's that are not in it

    @property
    def notes(self) -> tuple[str, ...]:
        """What its user has to know."""
        if not self.left_behind:
            return ()
        many = "change of yours is" if self.left_behind == 1 else "changes of yours are"
        return (f"{self.left_behind} uncommitted {many} not in it (--with-changes).",)


class Note(Value):
    """What is to be made; on disk before anything is."""

    repo: str
    branch: str
    base: str
    files: str  # the tree its files come from
    left_behind: int = 0
    done: bool = False
    snapshot: str = ""  # the commit it was made again from, if it was


# --- finding --------------------------------------------------------------------------------------


async def find_repo(path: Path, *, by: Git = PLAIN) -> Repo:
    try:
        place = discover(path)
    except NotARepository as error:
        raise NotARepository(
            f"{error} Run `git init` and commit once, or work in the folder as it is with "
            "--here --no-git."
        ) from None
    async with shadow(place, by=by) as git:
        head = await git.commit_at("HEAD")
    if not head:
        raise NoCommitYet(
            f"The repository {place.tree} has no commit yet. Commit once "
            '(`git commit --allow-empty -m "start"`), or work in the folder as it is with '
            "--here --no-git."
        )
    branch = branch_of(place.git_dir)
    return Repo(top=place.tree, common=place.common, head=head, branch=branch, place=place)


async def in_place(path: Path, *, git: bool = True, by: Git = PLAIN) -> Workspace:
    """`--here`: the user's own folder. Without git it is a plain folder: no snapshots, no drift."""
    if not git:
        return _plain(path)
    repo = await find_repo(path, by=by)
    return Workspace(
        id=str(repo.top),
        path=str(repo.top),
        repo=str(repo.common),
        branch=repo.branch,
        base=repo.head,
    )


def _plain(path: Path) -> Workspace:
    if not path.is_dir():
        raise FolderMissing(f"{path} is not a folder.")
    real = str(path.resolve())
    return Workspace(id=real, path=real, git=False)


def claim_folder(path: str, active: Mapping[SessionId, str]) -> SessionId | None:
    """Which of the sessions that have a run works in that very folder, if one does."""
    real = os.path.realpath(path)
    return next((s for s, taken in active.items() if os.path.realpath(taken) == real), None)


# --- making ---------------------------------------------------------------------------------------


async def create(
    repo: Repo,
    *,
    state: Path,
    session: SessionId,
    title: str,
    with_changes: bool = False,
    by: Git = PLAIN,
) -> Created:
    """A work tree at HEAD on a branch of its own. May be called again after any crash."""
    snapshots.ref_of(session, 0)  # a session's id becomes a path: checked
    path = _home(state) / session
    note = read_note(path)
    if note is None or note.repo != str(repo.common):
        async with shadow(repo.place, by=by) as git:
            note = await _noted(git, repo, session, title, with_changes=with_changes)
        write_note(path, note)
    workspace = await _finished(repo, path, note, by)
    return Created(workspace=workspace, left_behind=note.left_behind)


async def branch_off(
    common: Path,
    source: snapshots.Snapshot,
    *,
    state: Path,
    session: SessionId,
    title: str,
    by: Git = PLAIN,
) -> Workspace:
    """A work tree as a snapshot has it, on a branch of its own. May be called again, as above."""
    place = nowhere(common)
    path = _home(state) / session
    note = read_note(path)
    if note is None:
        async with shadow(place, by=by) as git:
            captured = Captured(tree=source.tree, left_out=source.left_out)
            await snapshots.keep(git, session, 0, captured, head=source.head, over=True)
            branch = await _free_branch(git, title, session)
        note = Note(repo=str(common), branch=branch, base=source.head, files=source.tree)
        write_note(path, note)
    repo = Repo(top=common, common=common, head=note.base, branch="", place=place)
    return await _finished(repo, path, note, by)


async def _finished(repo: Repo, path: Path, note: Note, by: Git) -> Workspace:
    if not note.done:
        note = await _make(repo, path, note, by)
        write_note(path, replace(note, done=True))
    return Workspace(
        id=path.name, path=str(path), repo=note.repo, branch=note.branch, base=note.base
    )


def _home(state: Path) -> Path:
    home = state.resolve() / "worktrees"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home


async def _noted(
    git: Shadow, repo: Repo, session: SessionId, title: str, *, with_changes: bool
) -> Note:
    """Snapshot 0 is how the session begins; it also keeps the user's changes from being tidied up."""
    if with_changes:
        captured = await capture(git, largest=None)
        left = len(captured.left_out)
    else:
        captured = Captured(tree=await git.tree_of(repo.head))
        left = len(await dirty_lines(git))
    await snapshots.keep(git, session, 0, captured, head=repo.head, over=True)
    return Note(
        repo=str(repo.common),
        branch=await _free_branch(git, title, session),
        base=repo.head,
        files=captured.tree,
        left_behind=left,
    )


async def _free_branch(git: Shadow, title: str, session: SessionId) -> str:
    # A branch called `hold` leaves no room for `hold/...`.
    family = "holdfast" if await git.commit_at("refs/heads/hold") else "hold"
    names = [f"{family}/{slug(title)}-{session[:n]}" for n in (4, 8, len(session))]
    for name in names:
        if not await git.commit_at(f"refs/heads/{name}"):
            return name
    return names[-1]


def slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[:SLUG].strip("-") or "work"


async def _make(repo: Repo, path: Path, note: Note, by: Git) -> Note:
    async with shadow(repo.place, by=by) as git:
        if await git.commit_at(f"refs/heads/{note.branch}") not in ("", note.base):
            # Somebody took the name since; it is theirs.
            words = note.branch.partition("/")[2].rpartition("-")[0]
            note = replace(note, branch=await _free_branch(git, words, SessionId(path.name)))
            write_note(path, note)
        await point(git, note.branch, note.base)
        base_tree = await git.tree_of(note.base)
    place = register(repo.common, path, note.branch)
    async with shadow(place, by=by) as git:
        await fill(git, note.files, index=base_tree)
    return note


async def point(git: Shadow, branch: str, commit: str) -> None:
    """Creates the branch. One that is there already is not moved; it must stand at that commit."""
    there = await git.commit_at(f"refs/heads/{branch}")
    if there == commit:
        return
    if there:
        raise GitFailed("update-ref", 1, f"The branch {branch} is there already, at {there}.")
    await git.git("update-ref", f"refs/heads/{branch}", commit, "0" * len(commit))


# --- the entry in the repository ------------------------------------------------------------------


def register(common: Path, path: Path, branch: str) -> Place:
    """Makes the folder a linked work tree on `branch`, whatever an earlier attempt left."""
    entry = _entry_of(common, path, branch) or _enter(common, path, branch)
    path.mkdir(mode=0o700, exist_ok=True)
    put(path / ".git", f"gitdir: {entry}\n".encode())
    return Place(tree=path, git_dir=entry, common=common)


def clear_entries(common: Path, path: Path) -> None:
    """Takes our entries out of the repository: those that belong to `path`, and the remains of one
    that never got to say whom it belongs to. Locked or not: nobody else's have our names."""
    mine = {entry for entry, tree in entries(common) if tree == path}
    folder = common / "worktrees"
    for entry in folder.iterdir() if folder.is_dir() else ():
        named_so = re.fullmatch(rf"{re.escape(path.name)}\d*", entry.name)
        if entry in mine or (named_so and not (entry / "gitdir").exists()):
            shutil.rmtree(entry)


def _entry_of(common: Path, path: Path, branch: str) -> Path | None:
    for entry, tree in entries(common):
        if tree == path and read_plain(entry / "commondir") == b"../..\n":
            with_head = read_plain(entry / "HEAD") or b""
            locked = (entry / "locked").exists()
            if with_head == f"ref: refs/heads/{branch}\n".encode() and not locked:
                return entry
    return None


def _enter(common: Path, path: Path, branch: str) -> Path:
    clear_entries(common, path)
    entry = common / "worktrees" / path.name
    beside = common / f"holdfast-{path.name}"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    (beside / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
    (beside / "commondir").write_text("../..\n")
    (beside / "gitdir").write_text(f"{path}/.git\n")
    entry.parent.mkdir(exist_ok=True)
    beside.rename(entry)
    head_of(entry)
    return entry


# --- the note -------------------------------------------------------------------------------------


def note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def write_note(path: Path, note: Note) -> None:
    fields = {name: getattr(note, name) for name in note.__struct_fields__}
    put(note_path(path), json.dumps(fields).encode())


def read_note(path: Path) -> Note | None:
    """None: we did not make that folder."""
    raw = read_plain(note_path(path))
    return Note(**json.loads(raw)) if raw else None
