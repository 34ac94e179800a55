"""Waiting until what a session owes the world is done."""

import asyncio

from holdfast.core.ids import SessionId
from holdfast.server.desk import Desk

PATIENCE = 25.0  # seconds; what takes longer goes on without us
LOOK = 0.02  # seconds between two looks


async def paid(desk: Desk, id: SessionId) -> bool:
    """Whether everything that was owed has been done; False: not yet."""
    try:
        async with asyncio.timeout(PATIENCE):
            while (live := desk.engine.sessions.get(id)) is not None and live.owed:  # noqa: ASYNC110
                await asyncio.sleep(LOOK)
    except TimeoutError:
        return False
    return True
