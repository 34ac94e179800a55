"""Puts what a launch says into the order in which it said it, once each.

A transport may deliver twice or in another order; a follower of a file may start again from an
earlier place. Reports carry their number; an early one waits for those before it, though not for
ever: what never comes must not hold up what did.
"""

import asyncio

from holdfast.core.ids import LaunchNumber
from holdfast.core.inputs import Heard

PATIENCE = 2.0  # seconds that a gap may hold up what came after it


class Inbox:
    def __init__(self) -> None:
        self._launch: LaunchNumber | None = None
        self._next = 1
        self._moved = asyncio.Condition()

    async def turn(self, heard: Heard) -> bool:
        """True when it is this report's turn; False: it was said before."""
        if self._launch is None or (heard.launch or 0) > self._launch:
            self._launch, self._next = heard.launch, 1
        if heard.launch != self._launch:
            return True  # of an earlier launch: the core knows what to do with it
        async with self._moved:
            try:
                await asyncio.wait_for(
                    self._moved.wait_for(lambda: heard.n <= self._next), PATIENCE
                )
            except TimeoutError:
                self._next = max(self._next, heard.n)
            if heard.n < self._next:
                return False
            self._next = heard.n + 1
            self._moved.notify_all()
        return True
