"""The one socket of a page (SPEC J2): what was missed, then what happens; and commands with answers.

Rule 1: each subscription reads the journal from its own cursor, at the pace at which its frames are
        taken. A slow client holds up nobody and fills no memory.
Rule 2: a cursor is (epoch, seq). Of another epoch, or beyond the head, it means nothing here: the
        client is told to start again, and gets everything from the beginning.
Rule 3: every command carries the client's own id, and gets one `result` with it.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from litestar import WebSocket, websocket
from litestar.di import NamedDependency
from litestar.exceptions import WebSocketDisconnect
from litestar.params import SkipValidation

from holdfast.core import inputs as i
from holdfast.core.ids import Seq, SessionId
from holdfast.server import acting
from holdfast.server.desk import Desk, Failure
from holdfast.server.errors import body_of
from holdfast.server.frames import (
    Answer,
    Cancel,
    Delta,
    Dismiss,
    Events,
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
from holdfast.server.reading import Piece, follow
from holdfast.wire import AnswerIn, PromptIn, ResumeIn

Here = SkipValidation[NamedDependency[Desk]]
Socket = WebSocket[Any, Any, Any]
SUBSCRIPTIONS = 64  # of one client, at once


READ_ONLY = (Subscribe, Unsubscribe, Status)
_decode = msgspec.json.Decoder(Given).decode
_encode = msgspec.json.Encoder().encode


@websocket("/api/ws")
async def talk(socket: Socket, desk: Here) -> None:
    await socket.accept()
    line = Line(socket, desk)
    try:
        while True:
            await line.hear(await socket.receive_text())
    except WebSocketDisconnect:
        return
    finally:
        await line.hang_up()


class Line:
    """One client on the line."""

    def __init__(self, socket: Socket, desk: Desk) -> None:
        self._socket, self._desk = socket, desk
        self._subscriptions: dict[SessionId, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()
        self._pace = Pace()

    async def hear(self, text: str) -> None:
        """A frame that cannot be read is answered too; the line stays up (SPEC M1)."""
        try:
            given = _decode(text)
        except msgspec.DecodeError as error:
            wrong = Failure("invalid", f"This frame cannot be read: {error}")
            await self._result(_id_of(text), error=wrong)
            return
        try:
            id = await acting.resolve(self._desk, given.session)
            if isinstance(given, Subscribe):
                await self._subscribe(id, given)
                return
            ok = await self._act(id, given)
        except Exception as error:  # noqa: BLE001  told to whoever asked
            await self._result(given.id, error=error)
        else:
            await self._result(given.id, ok=ok)

    async def hang_up(self) -> None:
        for task in self._subscriptions.values():
            task.cancel()
        await asyncio.gather(*self._subscriptions.values(), return_exceptions=True)

    async def _act(self, id: SessionId, given: Given) -> object:
        if not isinstance(given, READ_ONLY) and self._pace.wait(""):
            raise Failure("too_many", "Too many commands: 120 a minute.", "Wait a little.")
        desk = self._desk
        match given:
            case Unsubscribe():
                return await self._unsubscribe(id)
            case Prompt(text=text, input=input, limits=limits, images=images):
                sent = PromptIn(text=text, input=input, limits=limits, images=images)
                return await acting.prompt(desk, id, sent, unix=False)
            case Resume(message=message, limits=limits, rerun=rerun, fresh=fresh, images=images):
                wanted = ResumeIn(
                    message=message, limits=limits, rerun=rerun, fresh=fresh, images=images
                )
                return await acting.resume(desk, id, wanted, unix=False)
            case Answer(decision=decision, answer=answer, always=always):
                said = AnswerIn(decision=decision, answer=answer, always=always)
                return await acting.answer(desk, id, said)
            case Status():
                return await acting.standing(desk, id)
            case _:
                return await acting.tell(desk, id, COMMANDS[type(given)](given))

    # --- subscriptions ----------------------------------------------------------------------------

    async def _subscribe(self, id: SessionId, given: Subscribe) -> None:
        if given.view != "events":
            raise Failure("invalid", f"There is no view {given.view!r}.", "Ask for events.")
        await self._drop(id)
        if len(self._subscriptions) >= SUBSCRIPTIONS:
            raise Failure("too_many", f"{SUBSCRIPTIONS} sessions at once are the most.")
        row = await self._desk.engine.journal.row(id)
        head, epoch = row.head if row else 0, self._desk.engine.journal.epoch
        reset = (given.epoch not in ("", epoch)) or given.after > head
        await self._result(given.id, ok={"session": id})
        await self._send(Hello(session=id, epoch=epoch, head=head, reset=reset))
        after = Seq(0 if reset else given.after)
        self._subscriptions[id] = asyncio.create_task(self._pump(id, after))

    async def _unsubscribe(self, id: SessionId) -> dict[str, str]:
        await self._drop(id)
        return {"session": id}

    async def _drop(self, id: SessionId) -> None:
        task = self._subscriptions.pop(id, None)
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _pump(self, id: SessionId, after: Seq) -> None:
        try:
            async for piece in follow(self._desk.engine, id, after):
                if piece is not None:
                    await self._pass_on(id, piece)
        except WebSocketDisconnect:
            return
        except Exception as error:  # noqa: BLE001  the journal failed: the client starts again
            with contextlib.suppress(Exception):
                await self._send(Gap(session=id, error=body_of(error)))

    async def _pass_on(self, id: SessionId, piece: Piece) -> None:
        if piece.events:
            first, last = piece.events[0].seq, piece.events[-1].seq
            events = tuple(piece.events)
            await self._send(Events(session=id, first=first, seq=last, events=events))
        for delta in piece.deltas:
            field: Literal["text", "thinking"] = "thinking" if delta.thinking else "text"
            item = f"{field}/{delta.round}/{delta.part}"
            await self._send(
                Delta(session=id, item=item, field=field, offset=delta.offset, text=delta.text)
            )

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


def _id_of(text: str) -> str:
    """Of a frame that is wrong otherwise: so that its sender knows which one."""
    with contextlib.suppress(msgspec.DecodeError):
        found = msgspec.json.decode(text)
        if isinstance(found, dict):
            return str(found.get("id", ""))
    return ""
