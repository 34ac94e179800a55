"""One transcript file, read once and from then on only where it has grown.

Rule 1: reading only. A file is opened without following a link at its end, and never written.
Rule 2: the last line counts when it is finished; a line that is too long or torn is skipped and counted.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.agents.transcripts.claude import ClaudeReader
from holdfast.agents.transcripts.codex import CodexReader
from holdfast.agents.transcripts.copilot import CopilotReader
from holdfast.agents.transcripts.google import GoogleReader
from holdfast.agents.transcripts.lines import MOST, UNREADABLE, Reader
from holdfast.core.adoption import Turn, UserSaid
from holdfast.core.value import Value, replace
from holdfast.ports import Record

READERS: dict[str, Callable[[], Reader]] = {
    "claude": ClaudeReader,
    "codex": CodexReader,
    "copilot": CopilotReader,
    "gemini": GoogleReader,
    "qwen": GoogleReader,
}
KEPT = 300  # characters of a prompt, for the list


class Scanned(Value):
    """What is known of a file, and up to where it was read."""

    record: Record
    inode: int = 0
    size: int = 0
    changed: int = 0  # nanoseconds
    offset: int = 0


def scan(path: Path, before: Scanned | None, agent: str) -> Scanned | None:
    """None: it is gone, or no transcript."""
    try:
        seen = path.lstat()
    except OSError:
        return None
    if before is not None and (before.inode, before.size, before.changed) == (
        seen.st_ino,
        seen.st_size,
        seen.st_mtime_ns,
    ):
        return before
    grown = before is not None and before.inode == seen.st_ino and seen.st_size >= before.offset
    if not grown or before is None:
        before = Scanned(record=Record(agent=agent, id="", path=str(path)))
    try:
        record, offset = _read_on(path, before, agent)
    except OSError:
        return None
    record = replace(record, size=seen.st_size, modified_at=seen.st_mtime_ns // 1_000_000)
    return Scanned(
        inode=seen.st_ino,
        size=seen.st_size,
        changed=seen.st_mtime_ns,
        offset=offset,
        record=record,
    )


def _read_on(path: Path, before: Scanned, agent: str) -> tuple[Record, int]:
    reader, record, offset = READERS[agent](), before.record, before.offset
    prompts, torn, title, last = record.prompts, record.torn, record.title, record.last_prompt
    for line, end in lines(path, offset):
        offset = end
        if line is not None and (record.id or reader.about.id) and not reader.may_ask(line):
            torn += not _looks_whole(line)
            continue
        try:
            said = reader.feed(line) if line is not None else None
        except UNREADABLE:
            said = None
        if said is None:
            torn += 1
            continue
        for turn in said:
            if isinstance(turn, UserSaid):
                prompts, last = prompts + 1, turn.text.strip()[:KEPT]
                title = title or last
    about = reader.about
    return replace(
        record,
        id=record.id or about.id,
        folder=record.folder or about.folder or project_of(path),
        branch=record.branch or about.branch,
        title=title,
        last_prompt=last,
        prompts=prompts,
        torn=torn,
    ), offset


def _looks_whole(line: bytes) -> bool:
    """Of a line that is not decoded."""
    return line.startswith(b"{") and line.endswith((b"}\n", b"}\r\n"))


def whole(path: Path, agent: str) -> tuple[list[Turn], int]:
    """The conversation, and how many lines of it could not be read."""
    reader, torn = READERS[agent](), 0
    for line, _ in lines(path, 0):
        try:
            if line is None:
                torn += 1
            else:
                reader.feed(line)
        except UNREADABLE:
            torn += 1
    return reader.turns(), torn


def lines(path: Path, offset: int) -> Iterator[tuple[bytes | None, int]]:
    """Finished lines with the place after them; None: too long to be read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=1 << 20) as file:
        file.seek(offset)
        while line := file.readline(MOST):
            end = offset + len(line)
            whole_line: bytes | None = line
            while not line.endswith(b"\n"):
                line = file.readline(MOST)
                if not line:
                    return  # not finished yet
                end += len(line)
                fits = whole_line is not None and len(whole_line) + len(line) <= MOST
                # Its rest may just have been written.
                whole_line = whole_line + line if fits and whole_line is not None else None
            if whole_line is None or whole_line.strip():
                yield whole_line, end
            offset = end


def project_of(path: Path) -> str:
    """Gemini does not say in the file where it was: the folder around it does."""
    try:
        return (path.parent.parent / ".project_root").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
