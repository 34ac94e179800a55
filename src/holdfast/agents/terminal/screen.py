"""What a screen tells where nothing better is to be had."""

import asyncio
import time
from collections.abc import Sequence

from holdfast.agents.terminal.seam import Terminals

LOWEST = 14  # rows of a screen, those with nothing in them not counted, where an agent says what it is at


class Screen:
    """What is shown, and for how long nothing has moved."""

    def __init__(
        self,
        terminals: Terminals,
        name: str,
        *,
        busy: Sequence[str],
        asks: Sequence[str],
        idle: Sequence[str],
    ) -> None:
        self._terminals, self._name = terminals, name
        self._busy, self._asks, self._idle = busy, asks, idle
        self._since = time.monotonic()
        self.shown = ""

    async def look(self) -> str:
        now = await self._terminals.screen(self._name)
        if now != self.shown or not now.strip():
            self.shown, self._since = now, time.monotonic()
        return now

    async def still_for(self, seconds: float) -> bool:
        await self.look()
        return time.monotonic() - self._since >= seconds

    async def idle_for(self, seconds: float) -> bool:
        """And it does not say that it is at work, or asks."""
        if not await self.still_for(seconds) or self._says(self._busy) or self.asking:
            return False
        return not self._idle or self._says(self._idle)

    @property
    def asking(self) -> bool:
        return self._says(self._asks)

    def _says(self, any_of: Sequence[str]) -> bool:
        low = "\n".join(lowest(self.shown)).lower()
        return any(words.lower() in low for words in any_of)

    async def drawn(self, seconds: float) -> None:
        """Returns when a text that was pasted has been drawn, or after a while."""
        await asyncio.sleep(seconds)
        until = time.monotonic() + 10 * seconds
        while time.monotonic() < until and not await self.still_for(seconds):  # noqa: ASYNC110
            await asyncio.sleep(seconds / 3)


def lowest(screen: str, rows: int = LOWEST) -> list[str]:
    return [row.strip() for row in screen.splitlines() if row.strip()][-rows:]
