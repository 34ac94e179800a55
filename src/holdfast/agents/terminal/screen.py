"""What a screen tells where nothing better is to be had."""

import asyncio
import time

from holdfast.agents.terminal.seam import Terminals


class Still:
    """Whether anything moves on a screen."""

    def __init__(self, terminals: Terminals, name: str) -> None:
        self._terminals, self._name = terminals, name
        self._shown, self._since = "", time.monotonic()

    async def for_seconds(self, seconds: float) -> bool:
        now = await self._terminals.screen(self._name)
        if now != self._shown or not now.strip():
            self._shown, self._since = now, time.monotonic()
        return time.monotonic() - self._since >= seconds

    async def for_change(self, seconds: float) -> None:
        """Returns when a text that was pasted has been drawn, or after a while."""
        await asyncio.sleep(seconds)
        until = time.monotonic() + 10 * seconds
        while time.monotonic() < until and not await self.for_seconds(seconds):  # noqa: ASYNC110
            await asyncio.sleep(seconds / 3)
