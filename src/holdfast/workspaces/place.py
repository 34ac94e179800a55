"""Where a work tree and its repository are, found out by reading files, without git.

Git would follow whatever the folder says (a replaced `.git`, `core.worktree`). Here a folder is
believed only as far as both ends agree.

Rule 1: a known workspace must lead to the repository it was recorded with, and a linked work tree's
entry there must lead back to the folder. Anything else is `Misled`, never another answer.
Rule 2: a recorded path is a real path: if a link stands there now, somebody put it there.
Rule 3: files that a repository may have turned into pipes or links are opened so that we neither
wait nor follow.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from holdfast.core.truth import Workspace
from holdfast.core.value import Value
from holdfast.workspaces.errors import FolderMissing, Misled, NotARepository

SMALL = 1 << 16
LARGE = 1 << 30
HEAD = re.compile(r"ref: (refs/[^\x00-\x20\x7f~^:?*\[\\]+)|([0-9a-f]{40}|[0-9a-f]{64})")


class Place(Value):
    """A work tree, its own git folder, and the folder that all trees of the repository share."""

    tree: Path
    git_dir: Path
    common: Path

    @property
    def linked(self) -> bool:
        return self.git_dir != self.common


def nowhere(common: Path) -> Place:
    """For work on refs alone: no file of any tree is looked at."""
    return Place(tree=common, git_dir=common, common=common)


def discover(path: Path) -> Place:
    """The repository that `path` is in: the first `.git` on the way up."""
    start = path.resolve()
    if not start.is_dir():
        raise FolderMissing(f"{path} is not a folder.")
    for folder in (start, *start.parents):
        if os.path.lexists(folder / ".git"):
            return _opened(folder)
    raise NotARepository(f"{path} is not in a git repository.")


def locate(workspace: Workspace) -> Place:
    """The place of a workspace we know, checked against what was recorded of it."""
    path = Path(workspace.path)
    if not workspace.path or not os.path.lexists(path):
        raise FolderMissing(f"The folder {workspace.path or '(none)'} is not there.")
    if path.resolve() != path:
        raise Misled(f"{path} leads to {path.resolve()}: it is not the folder it was.")
    if not path.is_dir():
        raise Misled(f"{path} is no longer a folder.")
    if not os.path.lexists(path / ".git"):
        raise NotARepository(f"{path} is no longer a git work tree: its .git is gone.")
    place = _opened(path)
    if workspace.repo and place.common != Path(workspace.repo):
        raise Misled(
            f"{path}/.git leads to the repository {place.common}, not to {workspace.repo}."
        )
    return place


def entries(common: Path) -> Iterator[tuple[Path, Path]]:
    """The repository's linked work trees: each entry, and the folder it says it belongs to."""
    folder = common / "worktrees"
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        back = read_small(entry / "gitdir")
        if back and entry.is_dir() and not entry.is_symlink():
            yield entry, (entry / back).parent


def checkouts(common: Path) -> Iterator[Place]:
    """Every work tree of the repository that is really there."""
    if (common.parent / ".git").resolve() == common:
        yield Place(tree=common.parent, git_dir=common, common=common)
    for entry, tree in entries(common):
        if _leads_to(tree / ".git") == entry:
            yield Place(tree=tree.resolve(), git_dir=entry, common=common)


def head_of(git_dir: Path) -> str:
    """`refs/heads/x`, or a commit if no branch is checked out."""
    found = HEAD.fullmatch(read_small(git_dir / "HEAD"))
    if not found:
        raise NotARepository(f"{git_dir}/HEAD names neither a branch nor a commit.")
    return found[1] or found[2]


def branch_of(git_dir: Path) -> str:
    """The branch's short name; empty if HEAD is detached."""
    head = head_of(git_dir)
    return head.removeprefix("refs/heads/") if head.startswith("refs/heads/") else ""


def read_small(path: Path) -> str:
    raw = read_plain(path, SMALL)
    return os.fsdecode(raw).strip("\n") if raw else ""


def read_plain(path: Path, limit: int = LARGE) -> bytes | None:
    """A regular file's content; None if it is none, is not there, or is larger than `limit`."""
    found = read_dated(path, limit)
    return found[0] if found else None


def read_dated(path: Path, limit: int = LARGE) -> tuple[bytes, int] | None:
    """The same with the time of that very content, in nanoseconds."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        seen = os.fstat(file)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > limit:
            return None
        return opened.read(limit), seen.st_mtime_ns


def _opened(tree: Path) -> Place:
    git_dir = _leads_to(tree / ".git")
    if git_dir is None:
        raise NotARepository(f"{tree}/.git is neither a git folder nor leads to one.")
    shared = read_small(git_dir / "commondir")
    common = (git_dir / shared).resolve() if shared else git_dir
    for needed in ("objects", "refs"):
        if not (common / needed).is_dir():
            raise NotARepository(f"{common} is not a git folder: it has no {needed}.")
    if shared:
        _check_entry(tree, git_dir, common)
    head_of(git_dir)
    return Place(tree=tree, git_dir=git_dir, common=common)


def _check_entry(tree: Path, git_dir: Path, common: Path) -> None:
    """A linked tree and its entry in the repository must name each other."""
    if git_dir.parent != common / "worktrees":
        raise Misled(f"{tree}/.git leads to {git_dir}, which is no work tree entry of {common}.")
    back = read_small(git_dir / "gitdir")
    if not back or (git_dir / back).parent.resolve() != tree:
        raise Misled(f"{tree}/.git leads to {git_dir}, which belongs to {back or 'no folder'}.")


def _leads_to(entry: Path) -> Path | None:
    if entry.is_dir():
        return entry.resolve()
    named = read_small(entry)
    if not named.startswith("gitdir: "):
        return None
    target = (entry.parent / named.removeprefix("gitdir: ")).resolve()
    return target if target.is_dir() else None
