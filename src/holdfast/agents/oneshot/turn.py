"""One turn of a one-shot agent: its process is read to the end, and ended for certain."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol

from holdfast.agents.oneshot.ending import Left, ending
from holdfast.agents.oneshot.output import Output, Process
from holdfast.agents.oneshot.signs import Done, Finished, Reader, Result, Sign
from holdfast.agents.oneshot.teller import Teller, Unwanted
from holdfast.core import halt
from holdfast.core import inputs as i
from holdfast.core.budget import Exceeded
from holdfast.core.ids import LaunchNumber, Millis, RunNumber, Token
from holdfast.core.session import Session, StopReason

SOFT = 5.0  # seconds that an interrupted agent may take to put its things in order
SPENDING = (Done, Result, Finished)
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
    fork: bool  # or rather a fork of it
    input: bytes
    unknown: Sequence[str]  # words with which it says that it does not know the conversation
    login: str  # how to let it in
    submit: Callable[[i.Input], Awaitable[Any]]


class Turn:
    """`quiet`: seconds without a word; said once, and nothing is done about it (SPEC E17)."""

    def __init__(self, launch: LaunchNumber, *, quiet: float) -> None:
        self.launch, self._quiet = launch, quiet
        self.task: asyncio.Task[None] | None = None
        self._process: Child | None = None
        self._stopping = False
        self._heard_last = 0.0
        self._quiet_said = False
        self._began = 0.0
        self._over: Exceeded | None = None  # the limit that ends it

    async def play(
        self, begun: Begun, now: Callable[[], Millis], utc_offset_ms: int
    ) -> i.RunFinished | i.TokenRefused:
        """Returns when the process and all that it began are gone."""
        self._process = begun.process
        session, output = begun.session, Output(begun.process)
        teller = self._teller(begun, now)
        try:
            await output.open(begun.input)
            if self._stopping:  # told to end before there was a process
                await begun.process.end()
            with contextlib.suppress(Unwanted):
                await self._hear(output, begun.reader, teller)
                await teller.close(left_out=output.too_long)
            if self._over is not None:
                begun.process.interrupt()
            await begun.process.exited_within(SOFT if self._over else LAST_WORD)
        finally:
            await _for_certain(begun.process)
            code = begun.process.code()
            await output.close()
            begun.process.close()
        assert session.run is not None
        run = session.run.number
        if (asked := self._as_asked(teller.session, run)) is not None:
            return asked
        said = output.complaints()
        left = Left(finished=teller.finished, code=code, complaints=said, last=teller.last)
        return ending(
            left,
            launch=self.launch,
            run=run,
            unknown=begun.unknown,
            login=begun.login,
            resumed=begun.asked is not None,
            now=now(),
            utc_offset_ms=utc_offset_ms,
        )

    def _teller(self, begun: Begun, now: Callable[[], Millis]) -> Teller:
        return Teller(
            begun.session,
            launch=self.launch,
            asked=begun.asked,
            fork=begun.fork,
            submit=begun.submit,
            now=now,
        )

    def _as_asked(self, session: Session, run: RunNumber) -> i.RunFinished | None:
        """It was ended: by the user, or by a limit."""
        if self._stopping:
            return i.RunFinished(launch=self.launch, run=run, reason=StopReason.CANCELLED)
        if self._over is not None and session.run is not None:
            return halt.halted(session, self.launch, self._over)
        return None

    async def _hear(self, output: Output, reader: Reader, teller: Teller) -> None:
        loop = asyncio.get_running_loop()
        self._heard_last = self._began = loop.time()
        while self._over is None:
            due = teller.due()
            try:
                line = await output.line(self._patience(teller.session) if due is None else due)
            except TimeoutError:
                await self._idle(teller, due)
                continue
            if line is None:
                return
            self._heard_last, self._quiet_said = loop.time(), False
            for sign in reader.read(line):
                await teller.tell(sign)
                await self._hold_limits(teller, sign)

    def _patience(self, session: Session) -> float | None:
        """Until something has to be said about silence, or its time is up."""
        now, wall = asyncio.get_running_loop().time(), session.run and session.run.limits.wall_ms
        waits = [] if self._quiet_said else [self._heard_last + self._quiet - now]
        waits += [self._began + wall / 1000 - now] if wall else []
        return max(min(waits), 0) if waits else None

    async def _hold_limits(self, teller: Teller, sign: Sign | None = None) -> None:
        """The agent makes its own calls: it is looked at between them, and when its time is up."""
        elapsed = round((asyncio.get_running_loop().time() - self._began) * 1000)
        if isinstance(sign, SPENDING):
            near = halt.near(teller.session, elapsed_ms=elapsed)
            if near is not None:
                await teller.warn(*near)
        wall = teller.session.run and teller.session.run.limits.wall_ms
        if (wall and elapsed >= wall) or halt.between_rounds(teller.session):
            self._over = halt.reached(teller.session, elapsed_ms=elapsed)

    async def _idle(self, teller: Teller, due: float | None) -> None:
        if due is not None:
            await teller.save()
            return
        await self._hold_limits(teller)
        silent = asyncio.get_running_loop().time() - self._heard_last
        if self._over is None and silent >= self._quiet and not self._quiet_said:
            self._quiet_said = True
            await teller.notice(
                "agent_quiet", f"Nothing was heard from the agent for {_span(silent)}."
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


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes > 1 else f"{seconds:.0f} seconds"
