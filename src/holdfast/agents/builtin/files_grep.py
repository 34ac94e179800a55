"""Searching files where ripgrep is not installed: `python -m` this, with what is asked on stdin.

A process of its own, because a regular expression can run for ever, and a thread cannot be ended. It
walks by handles and follows no link; it knows nothing of .gitignore, so it leaves out the folders that
nobody means.
"""

import contextlib
import fnmatch
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from holdfast.agents.builtin.files import Refused, Tree
from holdfast.core.value import Value

SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".tox"})
LARGEST = 4 * 1024 * 1024
TROUBLE = 2


class Asked(Value):
    root: str
    path: str
    pattern: str
    glob: str | None = None
    matches: int = 200
    columns: int = 300


def main() -> int:
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=Asked)
    try:
        pattern = re.compile(asked.pattern.encode())
    except (re.error, RecursionError) as error:
        sys.stdout.write(f"the pattern is no regular expression: {error}\n")
        return TROUBLE
    try:
        _search(asked, pattern)
    except Refused as refused:
        sys.stdout.write(f"{refused}\n")
        return TROUBLE
    return 0


def _search(asked: Asked, pattern: re.Pattern[bytes]) -> None:
    count = 0
    with Tree(Path(asked.root)) as tree:
        for name, data in _files(tree, asked):
            for number, line in enumerate(data.split(b"\n"), 1):
                if pattern.search(line):
                    found = b"%d:%s" % (number, line.rstrip(b"\r")[: asked.columns])
                    sys.stdout.buffer.write(os.fsencode(name) + b"\0" + found + b"\n")
                    count += 1
            if count > asked.matches:
                break


def _files(tree: Tree, asked: Asked) -> Iterator[tuple[str, bytes]]:
    """Names are relative to what was asked for; the file that was asked for is `-`."""
    try:
        with tree.folder(asked.path) as folder:
            for above, folders, names, handle in os.fwalk(".", dir_fd=folder):
                folders[:] = sorted(f for f in folders if f not in SKIPPED)
                for name in sorted(names):
                    path = os.path.normpath(os.path.join(above, name))  # noqa: PTH118
                    if _wanted(path, asked.glob) and (data := _text(name, handle)) is not None:
                        yield path, data
    except Refused:
        with tree.file(asked.path) as handle, os.fdopen(os.dup(handle), "rb") as file:
            yield "-", file.read(LARGEST)


def _wanted(path: str, glob: str | None) -> bool:
    if not glob:
        return True
    return fnmatch.fnmatch(path if "/" in glob else path.rpartition("/")[2], glob)


def _text(name: str, folder: int) -> bytes | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with contextlib.suppress(OSError), os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
        data = file.read(LARGEST + 1)
        return data if len(data) <= LARGEST and b"\0" not in data else None
    return None


if __name__ == "__main__":
    sys.exit(main())
