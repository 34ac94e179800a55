"""The real clock."""

import asyncio
import time

from holdfast.core.ids import Millis


class SystemClock:
    def now(self) -> Millis:
        return Millis(time.time_ns() // 1_000_000)

    async def sleep_until(self, due: Millis) -> None:
        while (left := due - self.now()) > 0:  # noqa: ASYNC110  in pieces: the machine may sleep
            await asyncio.sleep(min(left, 60_000) / 1000)
