"""Changing files: all of a set or none, each of them at once (SPEC B3, D10).

Rule 1: everything is prepared beside its target and on the disk before the first name changes.
Rule 2: a name changes by rename alone, so that nobody ever sees half a file, and a link or a hard
link at that name is replaced, never written through.
Rule 3: if a later step fails, the earlier ones are taken back from copies made before. What a kill
leaves behind is at worst some files changed and some not: the probe tells which.
Rule 4: mode and owner of a file stay as they were.
"""

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from holdfast.agents.builtin.files import Refused, Tree
from holdfast.core.value import Value

ABSENT = "absent"  # as an expectation: there is no such file yet
SHORTEST_SHA = 7
_LEFTOVER = re.compile(r"\.holdfast-[0-9a-f]{16}\.tmp")


class Change(Value):
    """What a file shall be. None: gone."""

    path: str
    content: bytes | None
    expect: str | None = None  # the beginning of the sha256, or of the git blob id, it has now


def apply(tree: Tree, changes: Sequence[Change]) -> None:
    """All of them or none. `Refused` says why none."""
    with _Patch(tree) as patch:
        for change in changes:
            patch.prepare(change)
        patch.carry_out()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def clear_leftovers(tree: Tree, paths: Iterable[str]) -> None:
    """Removes what a write that was cut off had prepared beside these files."""
    folders = {path.rpartition("/")[0] or "." for path in paths}
    for folder in folders:
        with contextlib.suppress(OSError, Refused), tree.folder(folder) as handle:
            for name in os.listdir(handle):  # noqa: PTH208  by handle
                if _LEFTOVER.fullmatch(name):
                    _unlink(name, handle)


class _Step(Value):
    path: str
    folder: int
    name: str
    prepared: str | None  # None: to be removed
    existed: bool
    saved: str  # where what it was is kept


class _Patch:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._steps: list[_Step] = []
        self._names: set[str] = set()
        self._made: list[str] = []  # folders
        self._done: list[_Step] = []
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._take_back()
        for step in self._steps:
            _unlink(step.saved, step.folder)
            if step.prepared:
                _unlink(step.prepared, step.folder)
        self._open.close()
        if kind is not None:
            for name in reversed(self._made):
                self._tree.remove_folder(name)

    def prepare(self, change: Change) -> None:
        path = self._tree.name_to_write(change.path)
        if path in self._names:
            raise Refused(f"{path} is named twice; name each file once.")
        self._names.add(path)
        above, _, name = path.rpartition("/")
        made = self._tree.folder_to_write(above or ".", self._made)
        with _said(path):
            folder = self._open.enter_context(made)
            before = _status(name, folder)
            _check(path, change, before, folder, name)
            step = _Step(
                path=path,
                folder=folder,
                name=name,
                prepared=None if change.content is None else _temporary(),
                existed=before is not None,
                saved=_temporary(),
            )
            self._steps.append(step)
            if step.prepared is not None and change.content is not None:
                _write(step.prepared, folder, change.content, like=before)

    def carry_out(self) -> None:
        for step in self._steps if len(self._steps) > 1 else ():
            with _said(step.path):
                if step.existed:
                    _save(step)
        for step in self._steps:
            with _said(step.path):
                self._done.append(step)
                if step.prepared is None:
                    os.unlink(step.name, dir_fd=step.folder)
                else:
                    os.rename(
                        step.prepared, step.name, src_dir_fd=step.folder, dst_dir_fd=step.folder
                    )
        for step in self._steps:
            with contextlib.suppress(OSError):  # the change is there; only its safety is in doubt
                os.fsync(step.folder)

    def _take_back(self) -> None:
        for step in reversed(self._done):
            if step.existed:
                # Not there: it is the step that failed, or the only one; then nothing has changed.
                with contextlib.suppress(OSError):
                    os.rename(step.saved, step.name, src_dir_fd=step.folder, dst_dir_fd=step.folder)
            elif step.prepared and _status(step.prepared, step.folder) is None:
                _unlink(step.name, step.folder)


def _check(
    path: str, change: Change, before: os.stat_result | None, folder: int, name: str
) -> None:
    if before is not None and stat.S_ISLNK(before.st_mode):
        raise Refused(f"{path} is a symbolic link; links are not written through.")
    if before is not None and stat.S_ISDIR(before.st_mode):
        raise Refused(f"{path} is a folder, not a file.")
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise Refused(f"{path} is not a regular file.")
    if before is None and change.content is None:
        raise Refused(f"There is no {path} to remove.")
    if change.expect is None or (change.expect == ABSENT and before is None):
        return
    if change.expect == ABSENT:
        raise Refused(f"{path} is there already; read it first.")
    if before is None:
        raise Refused(f"There is no {path}, but expect_sha says that there is one.")
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        data = file.read()
    if not _matches(change.expect, data):
        raise Refused(f"{path} has changed since you saw it; read it again.")


def _matches(expected: str, data: bytes) -> bool:
    """By the sha256 that `read` shows, or by git's name for the content; at least a short one."""
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    names = (sha(data), blob.hexdigest())
    wanted = expected.lower().removeprefix("sha256:")
    return len(wanted) >= SHORTEST_SHA and any(name.startswith(wanted) for name in names)


def _write(name: str, folder: int, content: bytes, *, like: os.stat_result | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o666, dir_fd=folder), "wb") as file:
        if like is not None:
            with contextlib.suppress(PermissionError):
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(like.st_mode) & 0o777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _save(step: _Step) -> None:
    """A second name for what is there; a copy where the file system has no second names."""
    try:
        os.link(
            step.name,
            step.saved,
            src_dir_fd=step.folder,
            dst_dir_fd=step.folder,
            follow_symlinks=False,
        )
    except OSError:
        handle = os.open(step.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=step.folder)
        with os.fdopen(handle, "rb") as file:
            _write(step.saved, step.folder, file.read(), like=os.fstat(handle))


@contextlib.contextmanager
def _said(path: str) -> Iterator[None]:
    """What the system refuses is told to the model, by the file it is about."""
    try:
        yield
    except OSError as error:
        hint = "; free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        raise Refused(f"{path} could not be written: {error.strerror}{hint}.") from error


def _temporary() -> str:
    return f".holdfast-{secrets.token_hex(8)}.tmp"


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _unlink(name: str, folder: int) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)
