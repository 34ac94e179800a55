"""One response of the model, saved while it comes (SPEC C3): the pieces, then the end.

Every word that the model was heard to say is in the journal within a quarter of a second or two
kilobytes, so that a run that is cut off can quote what it had said.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from holdfast.agents.builtin.model import (
    CallAsked,
    Ended,
    Model,
    ModelFailed,
    Request,
    TextPiece,
    ThinkingPiece,
)
from holdfast.core import events as e
from holdfast.core.ids import CallId, RoundNumber
from holdfast.core.inputs import Reportable
from holdfast.core.session import Call, EffectClass, ErrorClass
from holdfast.core.value import replace

SAVE_CHARACTERS, SAVE_MS = 2048, 120  # half of what is promised: whoever watches waits for it too
Say = Callable[..., Awaitable[bool]]  # reports events; True if they were written down
Effects = Callable[[str], EffectClass]
Files = Callable[[str, str], tuple[str, ...]]


class Saver:
    """Collects pieces of one part and saves them in time, also when no other piece comes: a model may
    say a few words and then think for minutes."""

    def __init__(
        self,
        round: RoundNumber,
        say: Say,
        now: Callable[[], int],
        secrets: frozenset[str] = frozenset(),
    ) -> None:
        self._round, self._say, self._now = round, say, now
        self._secrets = secrets
        self._kind: type[TextPiece | ThinkingPiece] = TextPiece
        self._part, self._offset = 0, 0
        self._pieces: list[str] = []
        self._size, self._since = 0, now()
        self._timer: asyncio.TimerHandle | None = None
        self._late: asyncio.Task[None] | None = None

    async def add(self, piece: TextPiece | ThinkingPiece) -> None:
        if self._late is not None and self._late.done():
            await self.settle()
        if piece.part != self._part or type(piece) is not self._kind:
            await self.save()
            self._kind, self._part, self._offset = type(piece), piece.part, 0
        self._pieces.append(piece.text)
        self._size += len(piece.text)
        if self._size >= SAVE_CHARACTERS or self._now() - self._since >= SAVE_MS:
            await self.save(more=True)
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SAVE_MS / 1000, self._save_late)

    def _save_late(self) -> None:
        self._timer = None
        if self._late is None:
            self._late = asyncio.create_task(self.save(more=True))

    async def settle(self) -> None:
        """Nothing is under way any more; what failed is raised."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        late, self._late = self._late, None
        if late is not None:
            await late

    def rest(self, *, held: int = 0) -> list[Reportable]:
        """What is not saved yet, as the events that save it. The last `held` characters wait."""
        whole = "".join(self._pieces)
        text = whole[: len(whole) - held]
        if not text:
            return []
        kind = e.TextSaved if self._kind is TextPiece else e.ThinkingSaved
        event = kind(round=self._round, text=text, offset=self._offset, part=self._part)
        self._offset += len(text)
        self._pieces, self._size, self._since = [whole[len(text) :]], held, self._now()
        return [event]

    async def save(self, *, more: bool = False) -> None:
        """`more` is to come: what may be the beginning of a secret waits for its end."""
        held = _begun(self._pieces, self._secrets) if more and self._secrets else 0
        events = self.rest(held=held)
        if events:
            await self._say(*events)


def _begun(pieces: list[str], secrets: frozenset[str]) -> int:
    """How many characters at the end are the beginning of a secret."""
    longest = max(map(len, secrets)) - 1
    end = "".join(pieces)[-longest:]
    return next(
        (
            size
            for size in range(len(end), 0, -1)
            if any(s.startswith(end[-size:]) for s in secrets)
        ),
        0,
    )


async def respond(
    model: Model,
    request: Request,
    round: RoundNumber,
    *,
    say: Say,
    now: Callable[[], int],
    effect: Effects,
    files: Files,
    secrets: frozenset[str] = frozenset(),
) -> tuple[Call, ...] | None:
    """Streams one response into the journal. Its calls are given back as the model wrote them: the
    journal leaves secrets out. None: the journal did not want it any more."""
    saver = Saver(round, say, now, secrets)
    calls: list[Call] = []
    try:
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case TextPiece() | ThinkingPiece():
                        await saver.add(piece)
                    case CallAsked():
                        call = _call(piece, effect, files)
                        calls.append(_apart(call, calls))
                    case Ended():
                        await saver.settle()
                        wanted = await say(*saver.rest(), _finished(round, calls, piece))
                        return tuple(calls) if wanted else None
    except (ModelFailed, asyncio.CancelledError):  # what was heard stays
        await saver.settle()
        await saver.save()
        raise
    finally:
        await saver.settle()
    raise ModelFailed(ErrorClass.NETWORK, "The provider's answer ended in the middle.")


def _call(asked: CallAsked, effect: Effects, files: Files) -> Call:
    return Call(
        id=CallId(asked.id),
        name=asked.name,
        arguments=asked.arguments,
        effect=effect(asked.name),
        part=asked.part,
        files=files(asked.name, asked.arguments),
    )


def _apart(call: Call, others: list[Call]) -> Call:
    """Two calls of one response must have two ids: whose result it is could not be told."""
    taken, id = {other.id for other in others}, call.id
    number = 1
    while id in taken:
        number += 1
        id = CallId(f"{call.id}-{number}")
    return replace(call, id=id)


def _finished(round: RoundNumber, calls: list[Call], ended: Ended) -> e.ResponseFinished:
    return e.ResponseFinished(
        round=round,
        calls=tuple(calls),
        usage=ended.usage,
        model=ended.model,
        provider=ended.provider,
        signatures=ended.signatures,
        message_id=ended.message_id,
    )
