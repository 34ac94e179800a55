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
    found = await asyncio.to_thread(_sorted, shadow.place.tree, listed.names, largest)
    for names, how in ((found.gone, ("--force-remove",)), (found.there, ("--add", "--replace"))):
        if names:
            stdin = b"".join(name + b"\0" for name in names)
            await shadow.git("update-index", "-z", *how, "--stdin", stdin=stdin)
    tree = await shadow.line("write-tree")
    return Captured(tree=tree, left_out=tuple(as_text(name) for name in found.left_out))


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
    await asyncio.to_thread(install, shadow)


def put(path: Path, content: bytes, *, times: tuple[int, int] | None = None) -> None:
    """All of it or nothing, also over a power cut."""
    beside = path.with_name(f"{path.name}.holdfast")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if times:
        os.utime(beside, ns=times)
    beside.replace(path)


def install(shadow: Shadow) -> None:
    seen = shadow.index.stat()
    times = seen.st_atime_ns, seen.st_mtime_ns  # see shadow.py: an index must not look younger
    put(shadow.place.git_dir / "index", shadow.index.read_bytes(), times=times)


class _Names(Value):
    gone: list[bytes]
    there: list[bytes]
    left_out: list[bytes]


def _sorted(tree: Path, names: list[bytes], largest: int | None) -> _Names:
    """What git listed as changed, by what is to be done about it."""
    sorted_names = _Names(gone=[], there=[], left_out=[])
    links: dict[bytes, bool] = {}
    for name in dict.fromkeys(names):
        if name.endswith(b"/"):  # a repository of its own: git would keep a number, not its files
            sorted_names.left_out.append(name)
        elif _beyond_a_link(os.fsencode(tree), name, links):
            sorted_names.gone.append(name)  # the file it seems to be is somewhere else
        else:
            _place_of(tree, name, largest, sorted_names).append(name)
    return sorted_names


def _place_of(tree: Path, name: bytes, largest: int | None, names: _Names) -> list[bytes]:
    path = os.fsencode(tree) + b"/" + name
    try:
        seen = os.lstat(path)
    except OSError:
        return names.gone
    if stat.S_ISDIR(seen.st_mode):  # a submodule, or a folder that took a file's place
        return names.there if os.path.lexists(path + b"/.git") else names.gone
    if stat.S_ISLNK(seen.st_mode):
        return names.there
    readable = stat.S_ISREG(seen.st_mode) and os.access(path, os.R_OK)
    fits = largest is None or seen.st_size <= largest
    return names.there if readable and fits else names.left_out


def _beyond_a_link(tree: bytes, name: bytes, known: dict[bytes, bool]) -> bool:
    """Git would follow it, out of the tree if need be."""
    folder = name.rpartition(b"/")[0]
    if not folder:
        return False
    if folder not in known:
        is_link = Path(os.fsdecode(tree + b"/" + folder)).is_symlink()
        known[folder] = is_link or _beyond_a_link(tree, folder, known)
    return known[folder]
