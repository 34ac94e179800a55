"""The work tree by its handle: no name that a model or a repository makes up leads out of it.

Rule 1: a path is taken apart here and nowhere else. `..` is resolved by its letters, an absolute path
is taken only if it names this tree, and what is left is opened beneath the tree's own handle.
Rule 2: no symbolic link is ever followed, neither in the middle of a path nor at its end. So what was
checked is what is opened, whoever renames things meanwhile (the error says where a link points).
Rule 3: operations work on handles, never on a path that was checked before.
Rule 4: nothing in a `.git` folder is written, at any depth and in any spelling.
Rule 5: only regular files are read or replaced: no pipe, no device.

openat2(2) does a whole path in one step where the kernel has it; otherwise component by component.
"""

import contextlib
import ctypes
import difflib
import errno
import functools
import os
import stat
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Self

_OPENAT2 = 437  # the same number on every Linux architecture we run on
_NO_MAGIC_LINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_HANDLE = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Refused(Exception):
    """It was not done; the message tells the model why and what to do."""


class Tree:
    """An open work tree. Close it, or use it in a `with`; forgotten, it closes itself."""

    _handle = -1

    def __init__(self, root: Path, *, whole_paths: bool | None = None) -> None:
        """`whole_paths` False: component by component even where openat2 works."""
        self.root = Path(os.path.abspath(root))  # noqa: PTH100  links in it are the user's own
        self._handle = os.open(self.root, _HANDLE | os.O_DIRECTORY | os.O_CLOEXEC)
        self._roots = (self.root, self.root.resolve())  # a model may have seen either
        self._whole = has_openat2() if whole_paths is None else whole_paths

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def name(self, path: str) -> str:
        """The path from the tree's root, in its one spelling; "." is the root."""
        if "\0" in path or any("\ud800" <= c <= "\udfff" for c in path):
            raise Refused(f"The path {path!r} holds characters that no file name can have.")
        given = PurePosixPath(path)
        if given.is_absolute():
            root = next((r for r in self._roots if given.is_relative_to(r)), None)
            if root is None:
                raise Refused(_outside(path))
            given = given.relative_to(root)
        parts: list[str] = []
        for part in given.parts:
            if part != "..":
                parts.append(part)
            elif parts:
                parts.pop()
            else:
                raise Refused(_outside(path))
        return "/".join(parts) or "."

    def name_to_write(self, path: str) -> str:
        name = self.name(path)
        if name == ".":
            raise Refused("The path names the work tree itself; name a file in it.")
        if any(_is_git(part) for part in name.split("/")):
            raise Refused(f"{path} is in a .git folder, which may not be written; use git_commit.")
        return name

    @contextlib.contextmanager
    def file(self, path: str) -> Iterator[int]:
        """A regular file, to read."""
        name = self.name(path)
        with self._opened(name, _FILE) as handle:
            mode = os.fstat(handle).st_mode
            if stat.S_ISDIR(mode):
                raise Refused(f"{name} is a folder; use list to see what is in it.")
            if not stat.S_ISREG(mode):
                raise Refused(f"{name} is not a regular file.")
            yield handle

    @contextlib.contextmanager
    def folder(self, path: str) -> Iterator[int]:
        with self._opened(self.name(path), os.O_RDONLY | _FOLDER) as handle:
            yield handle

    @contextlib.contextmanager
    def folder_to_write(self, path: str, made: list[str]) -> Iterator[int]:
        """The folder, with those above it, made if need be; `made` gets the names of these."""
        name = self.name(path)
        for depth in range(1, name.count("/") + 2) if name != "." else ():
            part = "/".join(name.split("/")[:depth])
            above, _, last = part.rpartition("/")
            with self.folder(above or ".") as parent, contextlib.suppress(FileExistsError):
                os.mkdir(last, dir_fd=parent)
                made.append(part)
                os.fsync(parent)
        with self.folder(name) as handle:
            yield handle

    def remove_folder(self, name: str) -> None:
        """If it is empty."""
        above, _, last = name.rpartition("/")
        with contextlib.suppress(OSError, Refused), self.folder(above or ".") as parent:
            os.rmdir(last, dir_fd=parent)

    @contextlib.contextmanager
    def _opened(self, name: str, flags: int) -> Iterator[int]:
        try:
            handle = self._open(name, flags)
        except OSError as error:
            raise Refused(self._why(name, error)) from None
        try:
            yield handle
        finally:
            os.close(handle)

    def _open(self, name: str, flags: int) -> int:
        if self._whole:
            with contextlib.suppress(BlockingIOError):  # something was renamed: step by step, then
                return _openat2(self._handle, name, flags)
        *above, last = name.split("/")
        at = os.dup(self._handle)
        try:
            for part in above:
                below = os.open(part, _HANDLE | _FOLDER, dir_fd=at)
                os.close(at)
                at = below
            return os.open(last, flags, dir_fd=at)
        finally:
            os.close(at)

    def _why(self, name: str, error: OSError) -> str:
        """Looked up after the fact, for the message only."""
        with contextlib.suppress(OSError):
            if told := self._told(name):
                return told
        return f"{name} could not be opened: {os.strerror(error.errno or errno.EIO)}."

    def _told(self, name: str) -> str:
        parts = name.split("/")
        for depth in range(1, len(parts) + 1):
            part = "/".join(parts[:depth])
            path = self.root / part
            if path.is_symlink():
                return (
                    f"{part} is a symbolic link to {shown(str(path.readlink()))}; links are not "
                    "followed. Name the file itself, if it is in the work tree."
                )
            if not os.path.lexists(path):
                return f"There is no {name} in the work tree.{self._near(part)}"
            if depth < len(parts) and not path.is_dir():
                return f"{part} is not a folder."
        return ""

    def _near(self, name: str) -> str:
        above, _, last = name.rpartition("/")
        try:
            with self.folder(above or ".") as folder:
                names = [shown(entry) for entry in os.listdir(folder)]  # noqa: PTH208  by handle
        except (OSError, Refused):
            return ""
        close = difflib.get_close_matches(last, names, n=3)
        return f" Near it: {', '.join(close)}." if close else ""


def shown(name: str) -> str:
    """A file name as text: bytes that are no text are replaced, no lone surrogate comes out."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def text_of(data: bytes) -> str:
    """Text for a model and a database: neither takes every byte."""
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")


@functools.cache
def has_openat2() -> bool:
    """Tried once. An old kernel lacks it, and some containers forbid it."""
    if not sys.platform.startswith("linux"):
        return False
    here = os.open("/", _HANDLE | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(_openat2(here, ".", _HANDLE | os.O_CLOEXEC))
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(here)


class _How(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def _openat2(folder: int, name: str, flags: int) -> int:
    how = _How(flags, 0, _NO_MAGIC_LINKS | _NO_SYMLINKS | _BENEATH)
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    found = call(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(folder),
        ctypes.c_char_p(os.fsencode(name)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if found < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return int(found)


def _is_git(part: str) -> bool:
    """Some file systems ignore case, and characters that cannot be seen."""
    visible = "".join(c for c in part if unicodedata.category(c) != "Cf")
    return visible.casefold().rstrip(". ") == ".git"


def _outside(path: str) -> str:
    return f"{path} is outside the work tree; use a path in it, such as src/main.py."
