"""Who is watching. Watchers are woken and read from the journal at their own pace, from a cursor.

A watcher never holds up a run, and a run never fills a watcher's memory: what is passed on here is
only the news that there is news.
"""

import asyncio

from holdfast.core.ids import Seq, SessionId


class Feed:
    def __init__(self) -> None:
        self._heads: dict[SessionId, Seq] = {}
        self._written: dict[SessionId, Seq] = {}  # beyond the head: live text, without a place yet
        self._changed: dict[SessionId, asyncio.Event] = {}
        self._tick = 0
        self._ticks: dict[SessionId, int] = {}  # when each was last heard of, the newest last
        self._anything = asyncio.Event()

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

    async def wait(self, session: SessionId, after: Seq) -> Seq:
        """Returns the head as soon as it is beyond `after`."""
        while (head := self.head(session)) <= after:
            await self._changed.setdefault(session, asyncio.Event()).wait()
        return head

    async def stirred(self, session: SessionId, after: Seq) -> None:
        """Returns as soon as anything beyond `after` was written, for good or not yet."""
        while max(self.head(session), self._written.get(session, Seq(0))) <= after:
            await self._changed.setdefault(session, asyncio.Event()).wait()

    @property
    def tick(self) -> int:
        """Counts all news of all sessions: a cursor for `anything`."""
        return self._tick

    async def anything(self, after: int) -> tuple[int, list[SessionId]]:
        """Returns as soon as there is news after that tick: the tick now, and whose news."""
        while self._tick <= after:
            self._anything.clear()
            await self._anything.wait()
        found: list[SessionId] = []
        for session, tick in reversed(self._ticks.items()):
            if tick <= after:
                break
            found.append(session)
        return self._tick, found
