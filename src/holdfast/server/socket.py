"""The one socket of a page (SPEC J2): what was missed, then what happens; and commands with answers.

Rule 1: each subscription reads the journal from its own cursor, at the pace at which its frames are
        taken. A slow client holds up nobody and fills no memory.
Rule 2: a cursor is (epoch, seq). Of another epoch, or beyond the head, it means nothing here: the
        client is told to start again, and gets everything from the beginning.
Rule 3: every command carries the client's own id, and gets one `result` with it; said again with the
        same id, on this line or another, it is not done again (answers.py).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from litestar import WebSocket, websocket
from litestar.di import NamedDependency
from litestar.exceptions import WebSocketDisconnect
from litestar.params import SkipValidation

from holdfast.core import inputs as i
from holdfast.core.ids import Seq, SessionId
from holdfast.server import acting
from holdfast.server.answers import Answers
from holdfast.server.desk import Desk, Failure
from holdfast.server.errors import body_of
from holdfast.server.frames import (
    ALL,
    Answer,
    Beat,
    Cancel,
    Delta,
    Dismiss,
    Events,
    Field,
    Gap,
    Given,
    Hello,
    Prompt,
    Reattach,
    Result,
    Resume,
    Said,
    Seen,
    Status,
    Subscribe,
    Unsubscribe,
)
from holdfast.server.guard import Pace
from holdfast.server.reading import follow
from holdfast.server.watching import FAR, Watch, everything
from holdfast.wire import AnswerIn, PromptIn, ResumeIn

Here = SkipValidation[NamedDependency[Desk]]
Told = SkipValidation[NamedDependency[Answers]]
Socket = WebSocket[Any, Any, Any]
SUBSCRIPTIONS = 64  # of one client, at once
BEAT = 15.0  # seconds
UNIQUE = 16  # characters of an id that nobody else mints: it may name a command for good

_decode = msgspec.json.Decoder(Given).decode
_encode = msgspec.json.Encoder().encode


@websocket("/api/ws")
async def talk(socket: Socket, desk: Here, answers: Told) -> None:
    await socket.accept()
    line = Line(socket, desk, answers)
    try:
        while True:
            await line.hear(await socket.receive_text())
    except WebSocketDisconnect:
        return
    finally:
        await line.hang_up()


class Line:
    """One client on the line."""

    def __init__(self, socket: Socket, desk: Desk, answers: Answers) -> None:
        self._socket, self._desk, self._answers = socket, desk, answers
        self._subscriptions: dict[str, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()
        self._pace = Pace()
        self._beating = asyncio.create_task(self._beat())

    async def hear(self, text: str) -> None:
        """A frame that cannot be read is answered too; the line stays up (SPEC M1)."""
        try:
            given = _decode(text)
        except msgspec.DecodeError as error:
            wrong = Failure("invalid", f"This frame cannot be read: {error}")
            await self._result(_id_of(text), error=wrong)
            return
        try:
            if isinstance(given, Subscribe):
                await self._subscribe(given)
                return
            ok = await self._act(given)
        except Exception as error:  # noqa: BLE001  told to whoever asked
            await self._result(given.id, error=error)
        else:
            await self._result(given.id, ok=ok)

    async def hang_up(self) -> None:
        tasks = [self._beating, *self._subscriptions.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            await self._send(Beat())

    async def _act(self, given: Given) -> object:
        if isinstance(given, Unsubscribe):
            return await self._unsubscribe(given.session)
        id = await acting.resolve(self._desk, given.session)
        if isinstance(given, Status):
            return await acting.standing(self._desk, id)
        if self._pace.wait(""):
            raise Failure("too_many", "Too many commands: 120 a minute.", "Wait a little.")
        said = msgspec.json.encode(given)  # whatever is in it, the same words are the same command
        return await self._answers.once(said, lambda: self._command(id, given))

    async def _command(self, id: SessionId, given: Given) -> object:
        desk = self._desk
        match given:
            case Prompt(text=text, input=input, limits=limits, images=images):
                named = input or _unique(given.id)
                sent = PromptIn(text=text, input=named, limits=limits, images=images)
                return await acting.prompt(desk, id, sent, unix=False)
            case Resume(message=message, limits=limits, rerun=rerun, fresh=fresh, images=images):
                wanted = ResumeIn(
                    command=_unique(given.id),
                    message=message,
                    limits=limits,
                    rerun=rerun,
                    fresh=fresh,
                    images=images,
                )
                return await acting.resume(desk, id, wanted, unix=False)
            case Answer(decision=decision, answer=answer, always=always):
                said = AnswerIn(decision=decision, answer=answer, always=always)
                return await acting.answer(desk, id, said)
            case _:
                return await acting.tell(desk, id, COMMANDS[type(given)](given))

    # --- subscriptions ----------------------------------------------------------------------------

    async def _subscribe(self, given: Subscribe) -> None:
        if given.view not in ("events", "items") or (given.session, given.view) == (ALL, "events"):
            raise Failure("invalid", f"There is no view {given.view!r} of that.", "Ask for items.")
        every = given.session == ALL
        id = SessionId(ALL) if every else await acting.resolve(self._desk, given.session)
        await self._drop(id)
        if len(self._subscriptions) >= SUBSCRIPTIONS:
            raise Failure("too_many", f"{SUBSCRIPTIONS} sessions at once are the most.")
        tick, epoch = self._desk.engine.feed.tick, self._desk.engine.journal.epoch
        row = None if every else await self._desk.engine.journal.row(id)
        head = row.head if row else 0
        reset = given.epoch not in ("", epoch) or (not every and given.after > head)
        reset = reset or (given.view == "items" and head - given.after > FAR)
        await self._result(given.id, ok={"session": id})
        await self._send(Hello(session=id, epoch=epoch, head=head, reset=reset))
        after = Seq(0 if reset else given.after)
        telling = (
            everything(self._desk, tick)
            if every
            else self._tell(given.view, id, after, reset=reset)
        )
        self._subscriptions[id] = asyncio.create_task(self._pump(id, telling))

    async def _unsubscribe(self, given: str) -> dict[str, str]:
        id = given if given == ALL else await acting.resolve(self._desk, given)
        await self._drop(id)
        return {"session": id}

    async def _drop(self, id: str) -> None:
        task = self._subscriptions.pop(id, None)
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _pump(self, id: SessionId, telling: AsyncIterator[Said]) -> None:
        try:
            async for frame in telling:
                await self._send(frame)
        except WebSocketDisconnect:
            return
        except Exception as error:  # noqa: BLE001  the journal failed: the client starts again
            with contextlib.suppress(Exception):
                await self._send(Gap(session=id, error=body_of(error)))

    def _tell(self, view: str, id: SessionId, after: Seq, *, reset: bool) -> AsyncIterator[Said]:
        if view == "items":
            return Watch(self._desk, id).frames(after, reset=reset)
        return _events(self._desk, id, after)

    # --- frames out -------------------------------------------------------------------------------

    async def _result(self, id: str, *, ok: object = None, error: Exception | None = None) -> None:
        told = Result(id=id, error=body_of(error)) if error is not None else Result(id=id, ok=ok)
        await self._send(told)

    async def _send(self, frame: Said) -> None:
        async with self._sending:
            await self._socket.send_text(_encode(frame).decode())


COMMANDS: dict[type, Callable[[Any], i.Command]] = {
    Cancel: lambda _: i.CancelRun(),
    Dismiss: lambda _: i.DismissStop(),
    Reattach: lambda _: i.Reattach(),
    Seen: lambda given: i.MarkSeen(by=given.by),
}


async def _events(desk: Desk, id: SessionId, after: Seq) -> AsyncIterator[Said]:
    async for piece in follow(desk.engine, id, after):
        if piece is None:
            continue
        if piece.events:
            first, last = piece.events[0].seq, piece.events[-1].seq
            yield Events(session=id, first=first, seq=last, events=tuple(piece.events))
        for d in piece.deltas:
            field: Field = "thinking" if d.thinking else "text"
            item = f"{field}/{d.round}/{d.part}"
            yield Delta(session=id, item=item, field=field, offset=d.offset, text=d.text)


def _unique(id: str) -> str | None:
    return id if len(id) >= UNIQUE else None


def _id_of(text: str) -> str:
    """Of a frame that is wrong otherwise: so that its sender knows which one."""
    with contextlib.suppress(msgspec.DecodeError):
        found = msgspec.json.decode(text)
        if isinstance(found, dict):
            return str(found.get("id", ""))
    return ""
