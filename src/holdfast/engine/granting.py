"""Waiting for a run that begins only when its workspace is back (core/lost.py)."""

import asyncio

from holdfast.core import events as e
from holdfast.core.errors import Refused
from holdfast.core.ids import RunNumber
from holdfast.engine.engine import Engine, Outcome


async def begun(
    engine: Engine, outcome: Outcome, *, patience: float | None = None
) -> RunNumber | None:
    """The run that this command began, or found begun; None: nothing runs, or not yet after so many
    seconds. `Refused` if what was wished for cannot be."""
    id, session = outcome.session.id, outcome.session
    if session.wish is None:
        return session.run.number if session.run else None
    promised, seq = RunNumber(session.runs + 1), session.seq
    try:
        async with asyncio.timeout(patience):
            while session.wish is not None:
                await engine.feed.wait(id, session.seq)
                session = await engine.session(id)
    except TimeoutError:
        return None
    if session.runs >= promised:
        return promised
    for recorded in await engine.journal.read(id, after=seq):
        match recorded.event:
            case e.WorkspaceLost(why=why, given_up=True):
                raise Refused(f"The workspace could not be made again: {why}", AS_IT_WAS)
            case e.Notice(kind="not_continued", text=text):
                raise Refused(text, AS_IT_WAS)
            case _:
                continue
    return None


AS_IT_WAS = "The conversation is as it was. Put that right and resume again."
