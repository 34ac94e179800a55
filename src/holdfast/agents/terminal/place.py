"""Where an agent's record of a conversation lies, and what is kept to read on in it after our death."""

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from holdfast.agents.profiles.profile import Transcript, looks_like_id
from holdfast.agents.terminal.hooks import write_private
from holdfast.agents.terminal.manner import Manner
from holdfast.agents.terminal.record import RecordReader
from holdfast.agents.transcripts import opencode_events
from holdfast.agents.transcripts.lines import UNREADABLE
from holdfast.agents.transcripts.present import place
from holdfast.agents.transcripts.scan import lines
from holdfast.core.ids import Token
from holdfast.core.value import Value, replace

OPENING = 20  # lines of a record within which it says whose it is


class Mark(Value):
    """Written before a prompt is handed over: from here on its record is about that run."""

    run: int
    round: int  # the last one before it
    offset: int = 0
    at: float = 0.0  # seconds
    argument: bool = False  # it was given to the program at its start: it cannot get lost
    other: Token | None = None  # the session's conversation then, where another was begun
    typed: bool = False  # it is before this place, not after it: typed in the terminal, or over
    words: str = ""  # by which it is known again (`gist`)


def gist(words: str) -> str:
    """The same for the same words, however an agent breaks its lines or quotes them."""
    return sha256(re.sub(r"\W+", "", words).encode()).hexdigest()[:16]


def find(where: Transcript, token: Token, environ: Mapping[str, str]) -> Path | None:
    """The record of exactly that conversation; the largest, where an agent leaves stubs beside it."""
    root = place(where, environ)
    if root is None or not looks_like_id(token, where.id):
        return None
    if where.table:
        return root / where.pattern if (root / where.pattern).is_file() else None
    pattern = where.pattern.replace("{id8}", token[:8]).replace("{id}", token)
    found = [path for path in root.glob(pattern) if path.is_file()]
    if "{id8}" in where.pattern:
        found = [path for path in found if _first_line_has(path, token)]
    return max(found, key=lambda path: path.stat().st_size, default=None)


def end(where: Transcript, token: Token, environ: Mapping[str, str]) -> int:
    """Where it ends now: whoever begins there reads only what comes."""
    path = find(where, token, environ)
    if path is None:
        return 0
    return opencode_events.end(path, token) if where.table else path.stat().st_size


def newest(manner: Manner, *, since: float) -> tuple[Token, Path] | None:
    """The conversation that was had in this folder since then: for agents that choose their ids."""
    where = manner.where
    root = place(where, manner.environ) if where is not None else None
    if where is None or root is None:
        return None
    if where.table:
        file = root / where.pattern
        named = opencode_events.newest(file, manner.folder, since) if file.is_file() else None
        return (Token(named), file) if named and looks_like_id(named, where.id) else None
    pattern = where.pattern.replace("{id8}", "*").replace("{id}", "*")
    grown = [(path.stat().st_mtime, path) for path in root.glob(pattern)]
    for _, path in sorted((row for row in grown if row[0] >= since), reverse=True):
        token = _whose(path, manner.format, manner.folder)
        if token is not None and looks_like_id(token, where.id):
            return token, path
    return None


def _whose(path: Path, format: str, folder: str) -> Token | None:
    reader = RecordReader(format)
    try:
        for n, (line, _) in enumerate(lines(path, 0)):
            if n >= OPENING:
                break
            if line is not None:
                reader.read(line)
            if reader.id and reader.folder:
                return Token(reader.id) if reader.folder == folder else None
    except (OSError, *UNREADABLE):
        return None
    return None


def _first_line_has(path: Path, token: Token) -> bool:
    try:
        with path.open("rb") as file:
            return token.encode() in file.readline(65_536)
    except OSError:
        return False


class Marks:
    """One small file for each launch, in a folder of our own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> Mark | None:
        try:
            return msgspec.json.decode(self._file(name).read_bytes(), type=Mark)
        except (OSError, msgspec.DecodeError):
            return None

    def write(self, name: str, mark: Mark) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        write_private(self._file(name), msgspec.json.encode(mark).decode())

    def passed(self, name: str, offset: int) -> None:
        """The run is over: its prompt and its words are not heard again."""
        mark = self.read(name)
        if mark is not None:
            self.write(name, replace(mark, offset=offset, typed=True))

    def forget(self, name: str) -> None:
        for file in self.folder.glob(f"{name}.*"):
            file.unlink(missing_ok=True)

    def settings(self, name: str) -> Path:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return self.folder / f"{name}.settings.json"

    def moments(self, name: str) -> Path:
        return self.folder / f"{name}.moments.jsonl"

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.mark.json"
