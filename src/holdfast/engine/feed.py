"""Who is watching. Watchers are woken and read from the journal at their own pace, from a cursor.

A watcher never holds up a run, and a run never fills a watcher's memory: what is passed on here is
only the news that there is news.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator

from holdfast.core.ids import Seq, SessionId

EVERYTHING = SessionId("*")  # watched by whoever waits for anything


class Feed:
    def __init__(self) -> None:
        self._heads: dict[SessionId, Seq] = {}
        self._written: dict[SessionId, Seq] = {}  # beyond the head: live text, without a place yet
        self._changed: dict[SessionId, asyncio.Event] = {}
        self._tick = 0
        self._ticks: dict[SessionId, int] = {}  # when each was last heard of, the newest last
        self._anything = asyncio.Event()
        self._waiting: Counter[SessionId] = Counter()
        self._lately: set[SessionId] = set()  # watched since somebody asked
        self._somebody = asyncio.Event()

    def publish(self, session: SessionId, head: Seq) -> None:
        self._heads[session] = head
        self._written.pop(session, None)
        self._wake(session)

    def stir(self, session: SessionId, written: Seq) -> None:
        """Something was written that a power cut could still take: to be shown as it comes."""
        self._written[session] = written
        self._wake(session)

    def _wake(self, session: SessionId) -> None:
        waiting = self._changed.pop(session, None)
        if waiting is not None:
            waiting.set()
        self._tick += 1
        self._ticks.pop(session, None)
        self._ticks[session] = self._tick
        self._anything.set()

    def head(self, session: SessionId) -> Seq:
        """The last place in history that may be shown; 0 if nothing was written here."""
        return self._heads.get(session, Seq(0))

    def written(self, session: SessionId) -> Seq:
        """The last place that was heard of, for good or not yet."""
        return max(self.head(session), self._written.get(session, Seq(0)))

    async def wait(self, session: SessionId, after: Seq) -> Seq:
        """Returns the head as soon as it is beyond `after`."""
        with self._watching(session):
            while (head := self.head(session)) <= after:
                await self._changed.setdefault(session, asyncio.Event()).wait()
        return head

    async def stirred(self, session: SessionId, after: Seq) -> None:
        """Returns as soon as anything beyond `after` was written, for good or not yet."""
        with self._watching(session):
            while self.written(session) <= after:
                await self._changed.setdefault(session, asyncio.Event()).wait()

    @property
    def tick(self) -> int:
        """Counts all news of all sessions: a cursor for `anything`."""
        return self._tick

    async def anything(self, after: int) -> tuple[int, list[SessionId]]:
        """Returns as soon as there is news after that tick: the tick now, and whose news."""
        with self._watching(EVERYTHING):
            while self._tick <= after:
                self._anything.clear()
                await self._anything.wait()
        found: list[SessionId] = []
        for session, tick in reversed(self._ticks.items()):
            if tick <= after:
                break
            found.append(session)
        return self._tick, found

    # --- who waits ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _watching(self, session: SessionId) -> Iterator[None]:
        self._waiting[session] += 1
        self._lately.add(session)
        self._somebody.set()
        try:
            yield
        finally:
            self._waiting[session] -= 1
            if not self._waiting[session]:
                del self._waiting[session]

    def watched(self) -> frozenset[SessionId]:
        """Who is waited for now, or was since this was last asked."""
        found = frozenset(self._lately) | frozenset(self._waiting)
        self._lately.clear()
        if not self._waiting:
            self._somebody.clear()
        return found

    async def somebody(self) -> None:
        """Returns as soon as anybody waits for anything."""
        await self._somebody.wait()
