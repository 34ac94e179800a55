"""Reading a session's journal at a client's own pace: from a cursor, in order, once each.

A seq is shown only once a commit that survives a power cut covers it (SPEC J2). Streamed text is
committed more lightly; so text at the very end, with nothing durable after it, goes out as `delta`
without a seq, and again with one when it is covered. A client merges both by offset.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from holdfast.core.events import TextSaved, ThinkingSaved
from holdfast.core.ids import Seq, SessionId
from holdfast.engine.engine import STREAMED, Engine
from holdfast.ports import Recorded
from holdfast.wire import PAGE, DeltaOut, EventOut, event_out

BREATH = 15.0  # seconds of silence after which a follower gets an empty line


class Piece(msgspec.Struct):
    """What came after a cursor: for good, and not yet for good."""

    events: list[EventOut]
    deltas: list[DeltaOut]
    head: Seq  # the last that may be shown
    read: Seq  # the last that was read


async def read_on(engine: Engine, id: SessionId, after: Seq) -> Piece:
    found = await engine.read(id, after=after, limit=PAGE)
    solid = solid_part(found, engine.feed.head(id))
    if not solid and len(found) == PAGE:
        found = await engine.read(id, after=after)  # a very long text: look for its end
        solid = solid_part(found, engine.feed.head(id))
    if not found:
        return Piece(events=[], deltas=[], head=after, read=after)
    return _piece(found, solid, fresh=len(found), read=found[-1].seq)


def solid_part(found: list[Recorded], safe: Seq) -> int:
    """How many of these a power cut cannot take."""
    count = len(found)
    while count and found[count - 1].seq > safe and isinstance(found[count - 1].event, STREAMED):
        count -= 1
    return count


def _delta(recorded: Recorded) -> DeltaOut | None:
    event = recorded.event
    if not isinstance(event, TextSaved | ThinkingSaved):
        return None
    return DeltaOut(
        round=event.round,
        part=event.part,
        offset=event.offset,
        text=event.text,
        thinking=isinstance(event, ThinkingSaved),
    )


async def follow(engine: Engine, id: SessionId, after: Seq) -> AsyncIterator[Piece | None]:
    """Everything from the cursor on, for ever. None: nothing new for a while."""
    waiting: list[Recorded] = []  # said as deltas, not covered yet: the text of a round at most
    while True:
        found = await engine.read(id, after=after, limit=PAGE)
        if found:
            waiting += found
            after = found[-1].seq
            solid = solid_part(waiting, engine.feed.head(id))
            yield _piece(waiting, solid, fresh=len(found), read=after)
            waiting = waiting[solid:]
            continue
        try:
            async with asyncio.timeout(BREATH):
                await engine.feed.stirred(id, after)
        except TimeoutError:
            yield None


def _piece(found: list[Recorded], solid: int, *, fresh: int, read: Seq) -> Piece:
    unsaid = found[max(solid, len(found) - fresh) :]
    return Piece(
        events=[event_out(r.seq, r.at, r.event) for r in found[:solid]],
        deltas=[delta for r in unsaid if (delta := _delta(r)) is not None],
        head=found[solid - 1].seq if solid else Seq(found[0].seq - 1),
        read=read,
    )


async def lines(engine: Engine, id: SessionId, after: Seq, run: int | None) -> AsyncIterator[bytes]:
    """As JSON Lines, up to the stop of `run`; for ever if that is None."""
    encode = msgspec.json.Encoder().encode
    async for piece in follow(engine, id, after):
        if piece is None:
            yield b"\n"
            continue
        for event in piece.events:
            yield encode(event) + b"\n"
            if run is not None and event.type == "run_stopped" and event.data["run"] >= run:
                return
        for delta in piece.deltas:
            yield encode(delta) + b"\n"
