"""Pages of a conversation: the newest, and the one before an item.

A page is folded from a place a little before it, not from the beginning (views/chat.py says how that
is right): what it costs follows from what is on it, however long the session is.
"""

from typing import NamedTuple

from holdfast.core.events import (
    CallClosed,
    CallFinished,
    CallObserved,
    ResponseFinished,
    RunStarted,
    RunStopped,
)
from holdfast.core.ids import Seq, SessionId
from holdfast.core.session import Call
from holdfast.engine.engine import Engine
from holdfast.ports import Recorded
from holdfast.server.desk import Failure
from holdfast.server.reading import solid_part
from holdfast.views.chat import PLACES, Chat, begins
from holdfast.views.items import AssistantItem, Item, PlanItem
from holdfast.wire import PAGE, CallOut

REACH = 400  # events read back at first; then four times as many
FURTHER = 4


class Page(NamedTuple):
    items: tuple[Item, ...]
    more: bool
    head: Seq  # what is shown here is of this moment


async def newest(engine: Engine, id: SessionId, limit: int) -> Page:
    reach = max(REACH, 2 * limit)
    head = (await engine.session(id)).seq
    while True:
        chat, found = await reach_back(engine, id, Seq(max(0, head - reach)))
        for recorded in found[: solid_part(found, engine.feed.head(id))]:
            chat.add(recorded.seq, recorded.at, recorded.event)
        items = [item for item in chat.ordered() if _visible(item)]
        if chat.start == 0 or (len(items) > limit and not chat.incomplete):
            return _page(items, limit, chat)
        reach *= FURTHER


async def before(engine: Engine, id: SessionId, item: str, limit: int) -> Page:
    """What stands before that item, as it is now."""
    if not item.isdecimal():
        raise Failure("invalid", f"{item!r} is not the id of an item.", "Take that of the first.")
    place, reach = int(item), max(REACH, 2 * limit)
    while True:
        start = Seq(max(0, place // PLACES - reach))
        chat, found = await reach_back(engine, id, start, limit=reach + PAGE)
        while found:
            for recorded in found:
                chat.add(recorded.seq, recorded.at, recorded.event)
                if recorded.seq * PLACES >= place and chat.settled(place):
                    break
            else:
                found = await engine.read(id, after=Seq(chat.seq), limit=PAGE)
                continue
            break
        items = [i for i in chat.ordered() if i.place < place and _visible(i)]
        if chat.start == 0 or (len(items) > limit and not chat.incomplete):
            return _page(items, limit, chat)
        reach *= FURTHER


async def call(engine: Engine, id: SessionId, wanted: str) -> CallOut:
    """All that a call was given and all that came out; looked for from the end."""
    asked: Call | None = None
    result: CallFinished | CallClosed | None = None
    end = (await engine.session(id)).seq
    while end > 0 and asked is None:
        start = Seq(max(0, end - PAGE))
        for recorded in reversed(await engine.read(id, after=start, limit=end - start)):
            match recorded.event:
                case ResponseFinished(calls=calls):
                    asked = asked or next((c for c in calls if c.id == wanted), None)
                case CallObserved(call=seen) if seen.id == wanted:
                    asked = asked or seen
                case CallFinished() | CallClosed() as ended if ended.call == wanted:
                    result = result or ended
                case _:
                    pass
        end = start
    if asked is None:
        raise Failure("not_found", f"There is no call {wanted!r} in session {id}.")
    output = result.output if result else ""
    if isinstance(result, CallFinished) and result.blob is not None:
        body = await engine.journal.blob(result.blob)
        output = body.decode(errors="replace") if body is not None else output
    return CallOut(call=asked.id, name=asked.name, input=asked.arguments, output=output)


async def reach_back(
    engine: Engine, id: SessionId, start: Seq, *, limit: int | None = None
) -> tuple[Chat, list[Recorded]]:
    """A fold that begins at the first good place after `start`, and what is to be folded."""
    session = await engine.session(id)
    found = await engine.read(id, after=start, limit=limit)
    if start == 0:
        return Chat(), found
    skip = next((n for n, r in enumerate(found) if begins(r.event)), None)
    if skip is None:
        return await reach_back(engine, id, Seq(max(0, start - PAGE)), limit=limit)
    found = found[skip:]
    run = session.runs if limit is None else None
    for recorded in found:
        match recorded.event:
            case RunStarted(run=number):
                run = number - 1
            case RunStopped(run=number):
                run = number
            case _:
                continue
        break
    return Chat(start=found[0].seq - 1, run=run), found


def _visible(item: Item) -> bool:
    """A response that only asked for calls said nothing."""
    said = not isinstance(item, AssistantItem) or item.text or item.thinking or item.streaming
    return bool(said)


def _page(items: list[Item], limit: int, chat: Chat) -> Page:
    first = max(0, len(items) - limit)
    while first > 0 and isinstance(items[first], PlanItem):  # it moves: no place to go on from
        first -= 1
    more = first > 0 or chat.start > 0
    return Page(tuple(items[first:]), more, Seq(chat.seq))
