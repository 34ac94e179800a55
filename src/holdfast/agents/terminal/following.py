"""An agent's record, followed as it grows: where it is, and what each finished line of it says."""

import time
from pathlib import Path

from holdfast.agents.terminal import place
from holdfast.agents.terminal.manner import Manner
from holdfast.agents.terminal.record import REWRITTEN, RecordReader, Sign
from holdfast.agents.terminal.tail import Bell, Rows, Tail
from holdfast.agents.transcripts.lines import UNREADABLE
from holdfast.agents.transcripts.scan import lines
from holdfast.core import events as e
from holdfast.core.ids import Token

TORN = "A line of the agent's record could not be read: it is left out."
SEEK = 0.25  # seconds: all of its records are looked at
CUT = "The agent's record became shorter; it is read on from its end."


class Following:
    """`readable` False: nobody here understands its record, or there is none."""

    def __init__(self, manner: Manner, bell: Bell, *, since: float) -> None:
        self._manner, self._bell, self.since = manner, bell, since
        self._reader = RecordReader(manner.format) if manner.format and manner.where else None
        self._tail: Tail | Rows | None = None
        self.start_at = 0
        self._looked = 0.0
        self._said: set[str] = set()

    @property
    def readable(self) -> bool:
        return self._reader is not None

    @property
    def found(self) -> bool:
        return self._tail is not None

    @property
    def offset(self) -> int:
        return self._tail.offset if self._tail is not None else self.start_at

    def look_for(self, token: Token) -> None:
        if self._reader is not None and self._manner.where is not None:
            path = place.find(self._manner.where, token, self._manner.environ)
            self._follow(path, token, self.start_at)

    def look_for_another(self, than: Token | None) -> Token | None:
        """One that was begun without a word: its name, and it is followed from now on."""
        now = time.monotonic()
        if self._reader is None or now - self._looked < SEEK:
            return None
        self._looked = now
        found = place.newest(self._manner, since=self.since)
        if found is None or found[0] == than:
            return None
        self._follow(found[1], found[0], 0)
        return found[0]

    def forget(self) -> None:
        self._tail, self.start_at = None, 0

    async def read(self) -> list[tuple[list[Sign | e.Notice], int]]:
        """What is new, line by line, with the place after each."""
        if self._tail is None:
            return []
        found = [(self._signs(line), end) for line, end in await self._tail.read()]
        if self._tail.cut:
            self._tail.cut = False
            found.insert(0, (self._once("record_cut", CUT), self._tail.offset))
        return found

    def _signs(self, line: bytes | None) -> list[Sign | e.Notice]:
        try:
            if line is not None and self._reader is not None:
                return [*self._reader.read(line)]
        except UNREADABLE:
            pass
        return self._once("record_torn", TORN)

    def _once(self, kind: str, text: str) -> list[Sign | e.Notice]:
        if kind in self._said:
            return []
        self._said.add(kind)
        return [e.Notice(kind=kind, text=text)]

    def _follow(self, path: Path | None, token: Token, offset: int) -> None:
        where = self._manner.where
        if path is None or where is None or self._reader is None:
            return
        self._tail = Rows(path, token, offset) if where.table else Tail(path, offset)
        self._bell.watch(path.parent)
        if self._manner.format in REWRITTEN:
            self._read_above(path, offset)

    def _read_above(self, path: Path, offset: int) -> None:
        for line, end in lines(path, 0):
            if end > offset:
                return
            self._signs(line)
