"""Files to a git tree and back, without touching the index that the user and the agent share.

Rule 1: untracked files are in, ignored ones out. What cannot be kept (a folder that is a repository
of its own, a file nobody may read, one over the limit) is left out and named, never dropped silently.
Rule 2: what was left out is not touched on the way back either.
Rule 3: on the way back git checks everything before it changes anything; files it would have to
overwrite without a copy are a reason to stop.
"""

import asyncio
import os
import re
import stat
from pathlib import Path

from holdfast.core.value import Value
from holdfast.workspaces.errors import WouldLose
from holdfast.workspaces.git import as_text
from holdfast.workspaces.shadow import Shadow

LARGEST = 10 << 20  # bytes of a file in a snapshot

_IN_THE_WAY = re.compile(
    r"^error: (?:Entry|Untracked working tree file|Updating) '(.*?)'", re.MULTILINE
)


class Captured(Value):
    tree: str
    left_out: tuple[str, ...] = ()


async def capture(shadow: Shadow, *, largest: int | None = LARGEST) -> Captured:
    """The work tree as it is now, as a tree object. The shadow's index is then at that tree."""
    if not shadow.index.exists() and await shadow.commit_at("HEAD"):
        await shadow.git("read-tree", "HEAD")
    listed = await shadow.git(
        "ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"
    )
    names = list(dict.fromkeys(listed.names))
    taken, left_out = await asyncio.to_thread(_sorted, shadow.place.tree, names, largest)
    if taken:
        stdin = b"\0".join(taken) + b"\0"
        args = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        await shadow.git(*args, stdin=stdin)
    tree = await shadow.line("write-tree")
    return Captured(tree=tree, left_out=tuple(as_text(name) for name in left_out))


async def switch(shadow: Shadow, now: str, then: str) -> None:
    """From tree `now`, which `capture` just gave, to tree `then`: files, deletions, modes, links."""
    await shadow.git("update-index", "-q", "--really-refresh", ok=(0, 1))
    moved = await shadow.git("read-tree", "-m", "-u", now, then, ok=(0, 128))
    if moved.code:
        names = _IN_THE_WAY.findall(moved.err)
        raise WouldLose(
            "Files that are in no snapshot stand in the way, so nothing was changed",
            names or moved.err.strip().splitlines()[:3],
        )


async def fill(shadow: Shadow, files: str, *, index: str) -> None:
    """An empty or half-filled tree gets the files of one tree, and an index that stands at another.

    The index is put in place last and in one step: a tree with an index is a whole one. (A git that
    is killed in the middle of `worktree add` leaves a tree whose files all look deleted.)
    """
    shadow.index.unlink(missing_ok=True)
    await shadow.git("read-tree", "--reset", "-u", files)
    if index != files:
        await shadow.git("read-tree", "-m", index)
    await shadow.git("update-index", "-q", "--refresh", ok=(0, 1))
    await asyncio.to_thread(_install, shadow)


def put(path: Path, content: bytes) -> None:
    """All of it or nothing, also over a power cut."""
    beside = path.with_name(f"{path.name}.holdfast")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _install(shadow: Shadow) -> None:
    put(shadow.place.git_dir / "index", shadow.index.read_bytes())


def _sorted(tree: Path, names: list[bytes], largest: int | None) -> tuple[list[bytes], list[bytes]]:
    """Those that can be kept, and those that cannot."""
    out = {name for name in names if _unkeepable(tree, name, largest)}
    return [n for n in names if n not in out], [n for n in names if n in out]


def _unkeepable(tree: Path, name: bytes, largest: int | None) -> bool:
    path = os.fsencode(tree) + b"/" + name
    if name.endswith(b"/"):
        return True  # a repository of its own: git would keep a number, not its files
    try:
        seen = os.lstat(path)
    except OSError:
        return False  # deleted: that is kept
    if stat.S_ISLNK(seen.st_mode) or stat.S_ISDIR(seen.st_mode):
        return False  # a folder here is a submodule, or took a file's place
    if not stat.S_ISREG(seen.st_mode) or not os.access(path, os.R_OK):
        return True
    return largest is not None and seen.st_size > largest
