"""Commands whose answer waits until what they owe is done: the work tree is gone, or back."""

import asyncio

from holdfast.core import inputs as i
from holdfast.core.ids import SessionId
from holdfast.server import acting
from holdfast.server.desk import Desk
from holdfast.wire import Done

PATIENCE = 25.0  # seconds; what takes longer goes on without us
LOOK = 0.02  # seconds between two looks


async def settled(desk: Desk, id: SessionId, command: i.Command) -> Done:
    outcome = await desk.engine.submit(id, command)
    if outcome.events:
        await paid(desk, id)
    return Done(session=await acting.shown(desk, id), changed=bool(outcome.events))


async def paid(desk: Desk, id: SessionId) -> bool:
    """Whether everything that was owed has been done; False: not yet."""
    try:
        async with asyncio.timeout(PATIENCE):
            while (live := desk.engine.sessions.get(id)) is not None and live.owed:  # noqa: ASYNC110
                await asyncio.sleep(LOOK)
    except TimeoutError:
        return False
    return True
