"""Reading files for a model: lines with numbers, bounded, and never bytes that are no text."""

import codecs
import hashlib
import io
import os
import stat
from collections.abc import Iterator

from holdfast.agents.builtin.files import Refused, Tree, shown, text_of

LINES = 2000  # in one answer
CHARACTERS = 100_000  # in one answer
LINE = 2000  # characters of one line
ENTRIES = 1000  # of a folder
WHOLE = 16 * 1024 * 1024  # larger files are read in pieces, and not hashed
SNIFFED = 8192
SHORT_SHA = 12

_MAGIC = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"SQLite format 3", "a SQLite database"),
)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_lines(tree: Tree, path: str, *, offset: int = 1, limit: int = LINES) -> str:
    """Numbered lines from `offset` on, with a last line that says what was and was not shown."""
    name = tree.name(path)
    with tree.file(path) as handle, os.fdopen(os.dup(handle), "rb") as file:
        size = os.fstat(handle).st_size
        start = file.read(SNIFFED)
        if b"\0" in start and not start.startswith(_UTF_16):
            return (
                f"{name} is a binary file ({_kind(start)}{size} bytes); its content is not shown."
            )
        file.seek(0)
        if size > WHOLE:
            return _numbered(name, _lines(file), offset, limit, sha="")
        data = file.read(WHOLE + 1)
    text = data.decode("utf-16", "replace").encode() if data.startswith(_UTF_16) else data
    sha = hashlib.sha256(data).hexdigest()[:SHORT_SHA]
    return _numbered(name, _lines(io.BytesIO(text)), offset, limit, sha=sha)


def read_bytes(tree: Tree, path: str, *, most: int = WHOLE) -> bytes:
    """The whole file."""
    with tree.file(path) as handle, os.fdopen(os.dup(handle), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Refused(f"{tree.name(path)} is larger than {most} bytes; use shell to change it.")
    return data


def list_folder(tree: Tree, path: str) -> str:
    """One entry a line, folders first; a link with where it points."""
    with tree.folder(path) as handle, os.scandir(handle) as entries:
        found = sorted(
            (not entry.is_dir(follow_symlinks=False), _entry(entry, handle)) for entry in entries
        )
    lines = [text for _, text in found[:ENTRIES]]
    if len(found) > ENTRIES:
        lines.append(f"(and {len(found) - ENTRIES} more; name a folder or use search)")
    return "\n".join(lines) or "(the folder is empty)"


def _entry(entry: os.DirEntry[str], folder: int) -> str:
    name = shown(entry.name)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return name
    if stat.S_ISLNK(status.st_mode):
        return f"{name} -> {shown(os.readlink(entry.name, dir_fd=folder))}"
    if stat.S_ISDIR(status.st_mode):
        return f"{name}/"
    return f"{name}  {status.st_size}"


def _kind(start: bytes) -> str:
    return next((f"{kind}, " for magic, kind in _MAGIC if start.startswith(magic)), "")


def _lines(file: io.BufferedIOBase) -> Iterator[str]:
    """One at a time; of a line that is too long only the beginning is ever held."""
    while raw := file.readline(4 * LINE):
        ended = raw.endswith(b"\n")
        while not ended and (more := file.readline(1 << 16)):
            ended = more.endswith(b"\n")
        line = text_of(raw.rstrip(b"\r\n"))
        yield line if len(line) <= LINE else f"{line[:LINE]} [the line goes on]"


def _numbered(name: str, lines: Iterator[str], offset: int, limit: int, *, sha: str) -> str:
    shown_lines: list[str] = []
    size = number = 0
    cut = False
    for number, line in enumerate(lines, 1):
        if number < offset or cut:
            continue
        cut = len(shown_lines) >= min(limit, LINES) or size > CHARACTERS
        if not cut:
            shown_lines.append(f"{number:>6}\t{line}")
            size += len(line)
    if number == 0:
        return f"({name} is empty)"
    if not shown_lines:
        raise Refused(f"{name} has {number} lines; offset {offset} is past its end.")
    last = offset + len(shown_lines) - 1
    note = f"lines {offset} to {last} of {number}"
    if sha:
        note += f", sha {sha}"
    if last < number:
        note += f"; read on with offset {last + 1}"
    return "\n".join([*shown_lines, f"({note})"])
