"""What a page that watches is told: items of one session, or the documents of all.

Rule 1: what is for good comes as items, with a cursor to come back with. Text that is still being
        written comes as `delta`, before any cursor that covers it.
Rule 2: news is collected for a moment, so that a page is told some thirty times a second at most; and
        the next is read only when the last was taken.
Rule 3: the document comes when it says something else than before; where it stands in history is not
        something else.
"""

import asyncio
from collections.abc import AsyncIterator

from holdfast.core.ids import Seq, SessionId
from holdfast.core.value import Value, replace
from holdfast.engine.engine import STREAMED
from holdfast.ports import Recorded
from holdfast.server import acting
from holdfast.server.desk import Desk, Failure
from holdfast.server.frames import Delta, Field, Items, Said
from holdfast.server.pages import REACH, newest, reach_back
from holdfast.views.chat import Chat
from holdfast.views.document import SessionOut
from holdfast.views.items import AssistantItem, Item
from holdfast.wire import PAGE

MOMENT = 0.033  # seconds
LIST_MOMENT = 0.1  # the same for the list of all
FAR = 5000  # events behind: the newest page is less to read than all that was missed
FIRST = 200  # items of the newest page
KEPT = 500  # items that a fold remembers, at least


class Said16(Value):
    """How much of a text was passed on: in characters, and in UTF-16 units."""

    characters: int = 0
    units: int = 0

    def and_then(self, text: str) -> "Said16":
        rest = text[self.characters :]
        return Said16(characters=len(text), units=self.units + units(rest))


def units(text: str) -> int:
    return len(text) + sum(c > "\uffff" for c in text) if not text.isascii() else len(text)


class Watch:
    """One client's view of one session's items."""

    def __init__(self, desk: Desk, id: SessionId) -> None:
        self._desk, self._id = desk, id
        self._chat = Chat()
        self._cursor = 0  # items that changed up to here were passed on
        self._firm = 0  # a power cut takes nothing up to here
        self._said: dict[str, dict[Field, Said16]] = {}  # of items that are being written
        self._document: SessionOut | None = None

    async def frames(self, after: int, *, reset: bool) -> AsyncIterator[Said]:
        await self._begin(after, reset=reset)
        for frame in await self._news(document=True):
            yield frame
        while True:
            found = await self._read()
            if found:
                for recorded in found:
                    self._add(recorded)
                if self._chat.incomplete:
                    await self._fold(self._cursor)
                only_text = all(isinstance(r.event, STREAMED) for r in found)
                for frame in await self._news(document=not only_text):
                    yield frame
                self._chat.forget(KEPT)
            else:
                await self._desk.engine.feed.stirred(self._id, Seq(self._chat.seq))
            await asyncio.sleep(MOMENT)

    # --- reading ----------------------------------------------------------------------------------

    async def _begin(self, after: int, *, reset: bool) -> None:
        head = (await self._desk.engine.session(self._id)).seq
        if reset or head - after > FAR:
            page = await newest(self._desk.engine, self._id, FIRST)
            oldest = min((item.place for item in page.items), default=0)
            await self._fold(page.head)
            self._chat.items |= {i.id: i for i in page.items if i.id not in self._chat.items}
            self._chat.changed = {i.id for i in self._chat.items.values() if i.place >= oldest}
            self._cursor = 0
        else:
            await self._fold(after)
            self._cursor = after

    async def _fold(self, after: int) -> None:
        """Anew, from far enough back to know what everything after the cursor is about."""
        reach = REACH // 4
        while True:
            start = Seq(max(0, after - reach))
            self._chat, found = await reach_back(self._desk.engine, self._id, start)
            for recorded in found:
                self._add(recorded)
            if not self._chat.incomplete and self._chat.start <= after:
                break
            reach *= 4
        items = self._chat.items.values()
        self._chat.changed = {item.id for item in items if item.seq > after or _open(item)}

    async def _read(self) -> list[Recorded]:
        after = Seq(self._chat.seq)
        return await self._desk.engine.read(self._id, after=after, limit=PAGE)

    def _add(self, recorded: Recorded) -> None:
        self._chat.add(recorded.seq, recorded.at, recorded.event)
        safe = self._desk.engine.feed.head(self._id)
        if not isinstance(recorded.event, STREAMED):
            self._firm = recorded.seq
        elif recorded.seq <= safe:
            self._firm = max(self._firm, recorded.seq)

    # --- telling ----------------------------------------------------------------------------------

    async def _news(self, *, document: bool) -> list[Said]:
        """Deltas first: a cursor covers only what was said before it."""
        self._firm = max(self._firm, min(self._desk.engine.feed.head(self._id), self._chat.seq))
        changed, self._chat.changed = self._chat.changed, set()
        deltas: list[Said] = []
        whole: list[Item] = []
        for item in sorted((self._chat.items[id] for id in changed), key=lambda i: i.place):
            pieces = self._pieces(item)
            if pieces is None:
                whole.append(replace(item, seq=min(item.seq, max(self._firm, 1))))
            else:
                deltas += pieces
        seen = await self._changed_document() if document else None
        self._cursor = max(self._cursor, self._firm)
        if not whole and seen is None:
            return deltas
        told = Items(session=self._id, seq=self._cursor, items=tuple(whole), document=seen)
        return [*deltas, told]

    def _pieces(self, item: Item) -> list[Delta] | None:
        """What was added to a text since the client got the item. None: the whole item is due."""
        if not isinstance(item, AssistantItem):
            return None
        said = self._said.get(item.id)
        texts: dict[Field, str] = {"text": item.text, "thinking": item.thinking}
        grew = said is not None and all(len(t) >= said[f].characters for f, t in texts.items())
        if not item.streaming:
            self._said.pop(item.id, None)
            return None
        before = said if said is not None and grew else None
        known = before or {field: Said16() for field in texts}
        self._said[item.id] = {f: known[f].and_then(t) for f, t in texts.items()}
        if before is None:
            return None
        return [
            Delta(session=self._id, item=item.id, field=f, offset=before[f].units, text=rest)
            for f, t in texts.items()
            if (rest := t[before[f].characters :])
        ]

    async def _changed_document(self) -> SessionOut | None:
        found = await acting.shown(self._desk, self._id)
        told, self._document = self._document, found
        return None if told is not None and same(told, found) else found


def _open(item: Item) -> bool:
    """Being written: whoever comes back may have missed a piece."""
    return isinstance(item, AssistantItem) and item.streaming


def same(a: SessionOut, b: SessionOut) -> bool:
    return replace(a, head=0, updated_at="") == replace(b, head=0, updated_at="")


async def everything(desk: Desk, tick: int) -> AsyncIterator[Said]:
    """The document of each session that says something else, from that tick of the feed on."""
    told: dict[SessionId, SessionOut] = {}
    while True:
        tick, changed = await desk.engine.feed.anything(tick)
        for id in reversed(changed):
            try:
                found = await acting.shown(desk, id)
            except Failure:
                continue  # it is gone
            if id not in told or not same(told[id], found):
                told[id] = found
                yield Items(session=id, seq=found.head, items=(), document=found)
        await asyncio.sleep(LIST_MOMENT)
