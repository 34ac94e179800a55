"""One turn of a one-shot agent: its process is read to the end, and ended for certain."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol

from holdfast.agents.oneshot.ending import Left, ending
from holdfast.agents.oneshot.output import Output, Process
from holdfast.agents.oneshot.signs import Reader
from holdfast.agents.oneshot.teller import Teller, Unwanted
from holdfast.core import inputs as i
from holdfast.core.ids import LaunchNumber, Millis, Token
from holdfast.core.session import Session, StopReason

QUIET = 300.0  # seconds without a word: said once, and nothing is done about it (SPEC E17)
SOFT = 5.0  # seconds that an interrupted agent may take to put its things in order
LAST_WORD = 10.0  # seconds that an agent may live on after its turn is over


class Child(Process, Protocol):
    def code(self) -> int | None: ...
    def interrupt(self) -> None: ...
    async def exited_within(self, seconds: float) -> bool: ...
    async def end(self) -> Sequence[object]: ...
    def close(self) -> None: ...


class Begun(NamedTuple):
    """A process that runs, and what is needed to understand it."""

    process: Child
    reader: Reader
    session: Session
    asked: Token | None  # the conversation that was to come back
    input: bytes
    unknown: Sequence[str]
    submit: Callable[[i.Input], Awaitable[Any]]


class Turn:
    def __init__(self, launch: LaunchNumber) -> None:
        self.launch = launch
        self.task: asyncio.Task[None] | None = None
        self._process: Child | None = None
        self._stopping = False
        self._heard_last = 0.0
        self._quiet_said = False

    async def play(
        self, begun: Begun, now: Callable[[], Millis], utc_offset_ms: int
    ) -> i.RunFinished | i.TokenRefused:
        """Returns when the process and all that it began are gone."""
        self._process = begun.process
        session, output = begun.session, Output(begun.process)
        teller = Teller(
            session, launch=self.launch, asked=begun.asked, submit=begun.submit, now=now
        )
        try:
            await output.open(begun.input)
            if self._stopping:  # told to end before there was a process
                await begun.process.end()
            with contextlib.suppress(Unwanted):
                await self._hear(output, begun.reader, teller)
                await teller.close()
            await begun.process.exited_within(LAST_WORD)
        finally:
            await _for_certain(begun.process)
            code = begun.process.code()
            await output.close()
            begun.process.close()
        assert session.run is not None
        run = session.run.number
        if self._stopping:
            reason = StopReason.CANCELLED
            return i.RunFinished(launch=self.launch, run=run, reason=reason)
        said = output.complaints()
        left = Left(finished=teller.finished, code=code, complaints=said, last=teller.last)
        return ending(
            left,
            launch=self.launch,
            run=run,
            unknown=begun.unknown,
            resumed=begun.asked is not None,
            now=now(),
            utc_offset_ms=utc_offset_ms,
        )

    async def _hear(self, output: Output, reader: Reader, teller: Teller) -> None:
        loop = asyncio.get_running_loop()
        self._heard_last = loop.time()
        while True:
            due = teller.due()
            quiet = self._heard_last + QUIET - loop.time()
            patience = None if self._quiet_said else max(quiet, 0)
            try:
                line = await output.line(patience if due is None else due)
            except TimeoutError:
                await self._idle(teller, due)
                continue
            if line is None:
                return
            self._heard_last, self._quiet_said = loop.time(), False
            for sign in reader.read(line):
                await teller.tell(sign)

    async def _idle(self, teller: Teller, due: float | None) -> None:
        if due is not None:
            await teller.save()
        else:
            self._quiet_said = True
            minutes = round(QUIET / 60)
            await teller.notice(
                "agent_quiet", f"Nothing was heard from the agent for {minutes} minutes."
            )

    async def end(self, *, gently: bool) -> None:
        """Returns when the turn is over, whatever the agent thinks of it."""
        self._stopping = True
        process, task = self._process, self.task
        if process is not None:
            if gently:
                process.interrupt()
                await process.exited_within(SOFT)
            await process.end()
        if task is not None and task is not asyncio.current_task():
            await asyncio.wait({task})


async def _for_certain(process: Child) -> None:
    """A cancel must not leave the tree half dead."""
    ended = asyncio.ensure_future(process.end())
    while not ended.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(ended)
