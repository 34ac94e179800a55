"""Time that moves only when told to."""

import asyncio
import heapq
import itertools

from holdfast.core.ids import Millis


class FakeClock:
    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self._now = now
        self._count = itertools.count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now(self) -> Millis:
        return Millis(self._now)

    async def sleep_until(self, due: Millis) -> None:
        if due <= self._now:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due, next(self._count), future))
        await future

    async def advance(self, millis: int) -> None:
        """Wakes everybody who is due, in order, and lets them get on with it."""
        target = self._now + millis
        while self._sleepers and self._sleepers[0][0] <= target:
            due, _, future = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not future.done():
                future.set_result(None)
            await settle()
        self._now = target
        await settle()


async def settle(turns: int = 20) -> None:
    """Gives every other task some turns."""
    for _ in range(turns):
        await asyncio.sleep(0)
