"""Puts what a launch says into the order in which it said it, once each.

A transport may deliver twice or in another order; a follower of a file may start again from an
earlier place. Reports carry their number; an early one waits for those before it, though not for
ever: what never comes must not hold up what did. What comes after it was given up is let through:
nobody has heard it yet, and the core knows what is still news.
"""

import asyncio

from holdfast.core.ids import LaunchNumber
from holdfast.core.inputs import Heard

PATIENCE = 2.0  # seconds that a gap may hold up what came after it


class Inbox:
    def __init__(self) -> None:
        self._launch: LaunchNumber | None = None
        self._next = 1
        self._waiting: list[Heard] = []
        self._gaps: list[range] = []  # given up
        self._caught_up: set[int] = set()  # of those, what came after all
        self._moved = asyncio.Condition()

    async def turn(self, heard: Heard) -> bool:
        """True when it is this report's turn; False: it was said before."""
        async with self._moved:
            if self._launch is None or (heard.launch or 0) > self._launch:
                self._begin(heard.launch)
            while not self._may_pass(heard):
                await self._wait(heard)
            if heard.launch != self._launch:
                return True  # of an earlier launch: the core knows what to do with it
            if heard.n < self._next:
                return self._late(heard.n)
            self._next = heard.n + 1
            self._moved.notify_all()
        return True

    def _begin(self, launch: LaunchNumber | None) -> None:
        self._launch, self._next = launch, 1
        self._gaps, self._caught_up = [], set()
        self._moved.notify_all()

    def _may_pass(self, heard: Heard) -> bool:
        return heard.launch != self._launch or heard.n <= self._next

    async def _wait(self, heard: Heard) -> None:
        self._waiting.append(heard)
        try:
            async with asyncio.timeout(PATIENCE):
                await self._moved.wait_for(lambda: self._may_pass(heard))
        except TimeoutError:
            self._give_up()
        finally:
            self._waiting.remove(heard)

    def _give_up(self) -> None:
        """Go on with the first that did come."""
        here = (h.n for h in self._waiting if h.launch == self._launch)
        first = min(here, default=self._next)
        if first > self._next:
            self._gaps.append(range(self._next, first))
            self._next = first
            self._moved.notify_all()

    def _late(self, n: int) -> bool:
        if n in self._caught_up or not any(n in gap for gap in self._gaps):
            return False
        self._caught_up.add(n)
        return True
