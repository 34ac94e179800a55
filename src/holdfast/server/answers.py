"""A command that is said twice is done once: the second time it gets the first one's result.

A page that lost its line cannot know whether its command arrived, so it says it again, with the same
id, on the next one. What failed for a passing reason (the store was away) is tried again instead.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable

from holdfast.core.errors import Refused
from holdfast.server.desk import Failure

MANY = 4096  # remembered at once
LONG = 900.0  # seconds


class Answers:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._given: dict[Hashable, tuple[float, asyncio.Task[object]]] = {}

    async def once(self, command: Hashable, act: Callable[[], Awaitable[object]]) -> object:
        """It is carried through although whoever asked hangs up."""
        self._forget()
        if command not in self._given:
            task = asyncio.create_task(_carried_out(act))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._given[command] = (self._clock(), task)
        task = self._given[command][1]
        try:
            return await asyncio.shield(task)
        except (Refused, Failure):
            raise
        except Exception:
            self._given.pop(command, None)
            raise

    def _forget(self) -> None:
        """The oldest are first."""
        late = self._clock() - LONG
        while self._given:
            command, (at, task) = next(iter(self._given.items()))
            if not task.done() or (at > late and len(self._given) < MANY):
                return
            del self._given[command]


async def _carried_out(act: Callable[[], Awaitable[object]]) -> object:
    return await act()
