"""One life of an agent's process, and the conversation with it.

Rule 1: what it says is journaled in the order in which it said it, by the one who reads (transport.py).
Rule 2: until it is ready, what it says is a replay: evidence, never journaled again (SPEC E10).
Rule 3: it is gone when its whole tree is. Only then is its end told.
Rule 4: if the journal does not take what it says, nobody listens to it any more, and it is ended.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from holdfast.agents.acp import exits, transport
from holdfast.agents.acp.asides import Asides
from holdfast.agents.acp.frames import Message
from holdfast.agents.acp.handshake import FORK, Handshake, Unfit, Unknown, explained
from holdfast.agents.acp.meter import Meter
from holdfast.agents.acp.permission import Questions
from holdfast.agents.acp.profile import AcpProfile, McpServer, Waits
from holdfast.agents.acp.replay import Replay
from holdfast.agents.acp.translate import TEXT, Translator
from holdfast.agents.acp.transport import Answer, Connection, Gone, RpcFailed, Silent
from holdfast.agents.acp.updates import TurnEnded, Update, decoded, parse_update
from holdfast.core import events as e
from holdfast.core import halt
from holdfast.core import inputs as i
from holdfast.core.agent_errors import classify
from holdfast.core.ids import LaunchNumber, Millis, RunNumber
from holdfast.core.quirks import BARE_CALLS
from holdfast.core.session import ErrorClass, Handle, Session
from holdfast.core.turn_end import ended
from holdfast.ports import Clock, JournalError

LOG = logging.getLogger(__name__)
TICK = 0.25  # seconds
SPENDING = (e.ResponseFinished, e.CallFinished)


class Process(transport.Process, Protocol):
    handle: Handle

    def code(self) -> int | None: ...
    async def exited_within(self, seconds: float) -> bool: ...
    async def end(self) -> Any: ...
    def close(self) -> None: ...


Submit = Callable[[i.Input], Awaitable[Any]]


class Peer:
    def __init__(
        self,
        process: Process,
        session: Session,
        launch: LaunchNumber,
        *,
        profile: AcpProfile,
        servers: tuple[McpServer, ...],
        submit: Submit,
        clock: Clock,
        waits: Waits,
    ) -> None:
        self.launch = launch
        self._process, self._session, self._profile = process, session, profile
        self._servers, self._submit, self._clock, self._waits = servers, submit, clock, waits
        self._connection = Connection(process, on_message=self._message, on_gone=self._gone)
        self._translator = Translator(launch, clock.now, bare=BARE_CALLS in profile.quirks)
        self._questions = Questions(launch, session.mode, self._connection)
        self._asides = Asides(profile, clock.now)
        self._meter = Meter(session, clock.now)
        self.replay: Replay | None = Replay()  # None: it is ready, and what comes is new
        self.lost_prompt = ""  # what its replay proves that it never got
        self._token = ""
        self._run: RunNumber | None = None
        self._last_run = RunNumber(0)
        self._cancelled: RunNumber | None = None
        self._said = 0
        self._ticking = False
        self._late: list[str] = []  # what it says after its turn
        self._verdict: Unfit | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._task: asyncio.Task[None] | None = None

    @property
    def gone(self) -> bool:
        return self._connection.gone is not None

    async def open(self) -> None:
        await self._connection.open()

    # --- coming up ------------------------------------------------------------------------------------

    def come_up(self, sent: str, *, not_before: Millis = Millis(0)) -> None:
        """In its own time: whoever started it need not wait. `sent` is the last prompt that was sent in an
        earlier life and never answered; its conversation is not asked for before `not_before`."""
        self._task = asyncio.create_task(self._come_up(sent, not_before))

    async def _come_up(self, sent: str, not_before: Millis) -> None:
        try:
            await self._shake_hands(sent, not_before)
        except Unknown as unknown:
            await self._submit(i.TokenRefused(launch=self.launch, why=str(unknown)))
        except Unfit as unfit:
            self._give_up(unfit)
        except RpcFailed as failed:
            self._give_up(explained(failed, self._profile, self._clock.now()))
        except Silent as silent:
            self._give_up(Unfit(ErrorClass.UNKNOWN, f"The agent did not come up. {silent}"))
        except Gone:
            pass  # told by `_gone`
        except JournalError as error:
            LOG.warning("session %s: its agent is ended: %s", self._session.id, error)
            self._connection.close(str(error))

    async def _shake_hands(self, sent: str, not_before: Millis) -> None:
        session = self._session
        assert session.launch is not None and self.replay is not None
        shake = Handshake(
            self._connection, session, self._profile, self._servers, limit=self._waits.ready
        )
        able = await shake.initialize()
        await self._wait_until(not_before)
        token, answer = await shake.conversation(session.launch.plan, able)
        self._token = token
        if shake.came_back in ("session/load", FORK):
            await self._calm()
        notes = list(await shake.configure(token, answer))
        if sent and self.replay.arrived(sent) is False:
            self.lost_prompt = sent
            notes.append("The agent never got the last prompt: it will be sent again.")
        silent = shake.came_back == "session/load" and not self.replay.seen
        if session.responses and silent:
            notes.append("The agent says that its conversation is back, and shows nothing of it.")
        self.replay = None
        self._translator.settle_cost()
        if notes:
            await self.say(*(e.Notice(kind="agent", text=note) for note in notes))
        forked = shake.came_back == FORK
        ready = i.AgentReady(launch=self.launch, token=token, abilities=able, forked=forked)
        await self._submit(ready)

    async def _wait_until(self, moment: Millis) -> None:
        seconds = (moment - self._clock.now()) / 1000
        if seconds > 0:
            text = f"This agent loses a conversation that is loaded in the minute it began: {seconds:.0f} s to wait."
            await self.say(e.Notice(kind="agent", text=text, until=moment))
            await asyncio.sleep(seconds)

    async def _calm(self) -> None:
        """Some go on replaying after they said that they are done."""
        loop = asyncio.get_running_loop()
        said, until = loop.time(), loop.time() + self._waits.replay_most
        while self.replay is not None and loop.time() < until:
            left = max(said, self.replay.last) + self._waits.replay - loop.time()
            if left <= 0:
                return
            await asyncio.sleep(left)

    def _give_up(self, unfit: Unfit) -> None:
        self._verdict = unfit
        self._connection.close(unfit.message)

    # --- a turn ---------------------------------------------------------------------------------------

    async def prompt(self, session: Session, text: str, *, injected: int) -> None:
        """Once for each run, however often it is asked for."""
        if session.run is None or session.run.number <= self._last_run:
            return
        run = self._last_run = session.run.number
        self._meter.begin(session)
        if (reached := self._meter.reached()) is not None:  # of the whole session
            await self._submit(halt.halted(session, self.launch, reached))
            return
        self._run = run
        self._translator.begin(session.round)
        self._asides.begin()
        params = {"sessionId": self._token, "prompt": [{"type": "text", "text": text}]}

        async def over(answer: Answer) -> None:
            await self._turn_over(run, answer)

        self._connection.ask("session/prompt", params, over)
        self._watch_quiet(run)
        self._watch_time(run)
        if injected:
            why = session.launch.plan.why if session.launch else ""
            told = e.ContextInjected(launch=self.launch, characters=injected, why=why)
            await self.say(told)

    async def _turn_over(self, run: RunNumber, answer: Answer) -> None:
        """What was cut off is not finished: its words stay, without an end."""
        self._run = None
        said = decoded(answer.result, TurnEnded) if answer.failed is None else None
        whole = said is not None and said.stop_reason != "cancelled"
        events = self._translator.end(said) if whole else self._translator.tick()
        await self.say(*events, *self._questions.drop_all("the turn is over"))
        if isinstance(answer.failed, Gone):
            return  # `_gone` comes next
        await self._submit(self._finished(run, answer.failed, said))

    def _finished(
        self, run: RunNumber, failed: RpcFailed | None, said: TurnEnded | None
    ) -> i.RunFinished:
        if self._meter.over is not None and self._meter.session.run is not None:
            return halt.halted(self._meter.session, self.launch, self._meter.over)
        stop = said.stop_reason if said else "end_turn"
        told = stop == "end_turn" or bool(self._asides.retrying)
        message = str(failed) if failed else self._asides.failure if told else ""
        if not message:
            return ended(self.launch, run, stop_reason=stop, asked=self._cancelled == run)
        trouble = classify(message, code=failed.code if failed else None, now=self._clock.now())
        return ended(self.launch, run, trouble=trouble, message=message)

    def cancel(self, run: RunNumber) -> None:
        """Asked first, ended after a while."""
        if self._run != run:
            return
        self._cancelled = run
        self._connection.notify("session/cancel", {"sessionId": self._token})
        self._questions.cancel_all()

        def insist() -> None:
            if self._run == run:
                self._connection.close("It did not end its turn when it was cancelled.")

        self._later(self._waits.cancel, insist)

    def answer(self, decision: Any, answer: str) -> None:
        self._questions.answer(decision, answer)
        self._meter.asking(open=self._questions.open)

    def _watch_time(self, run: RunNumber) -> None:
        left = self._meter.left
        if left is None or self._run != run or self._meter.over is not None:
            return
        if left <= 0 and not self._questions.open:
            self._halt_if_reached()
            return
        self._later(max(left, 1.0), lambda: self._watch_time(run))

    def _watch_retries(self, run: RunNumber) -> None:
        """It tries again by itself, and may do so for ever. It says so each time."""
        asides = self._asides
        trying = asides.retrying and self._run == run and not asides.failure
        if trying and halt.tried_enough(for_ms=self._clock.now() - asides.since):
            asides.failure = asides.retrying
            self.cancel(run)

    def _halt_if_reached(self) -> None:
        """Interrupted first; the run ends with the limit's reason when the turn does."""
        over = self._meter.reached()
        if over is not None and self._meter.over is None and self._run is not None:
            self._meter.over = over
            self.cancel(self._run)

    def _watch_quiet(self, run: RunNumber) -> None:
        loop = asyncio.get_running_loop()

        def look() -> None:
            if self._run != run or self.gone:
                return
            left = self._connection.last_heard + self._waits.quiet - loop.time()
            if left > 0 or self._questions.open:
                self._later(max(left, 1.0), look)
                return
            minutes = self._waits.quiet / 60
            text = f"Nothing was heard of the agent for {minutes:.0f} minutes. You can cancel it."
            self._connection.in_order(lambda: self.say(e.Notice(kind="quiet", text=text)))

        self._later(self._waits.quiet, look)

    # --- what it says -----------------------------------------------------------------------------------

    def _message(self, message: Message) -> Awaitable[None] | None:
        if message.method == "session/update":
            found = parse_update(message.params)
            return self._update(found.update) if found else None
        if message.method == "session/request_permission" and message.id is not None:
            return self._asked(message)
        if message.method == "$/cancel_request":
            return self.say(*self._questions.withdrawn(message.params))
        if message.id is not None:
            text = f"Holdfast does not offer {message.method}."
            self._connection.refuse(message.id, transport.METHOD_NOT_FOUND, text)
        return None

    def _update(self, update: Update) -> Awaitable[None] | None:
        if self.replay is not None:
            self.replay.take(update, asyncio.get_running_loop().time())
            self._translator.count(update)
            return None
        if self._run is None:
            if update.session_update == TEXT:
                self._late.append(self._translator.words(update))
                self._tick_soon()
            return None
        aside = self._asides.take(update)
        if aside is not None:
            self._watch_retries(self._run)
            return self.say(e.Notice(kind="agent", text=aside)) if aside else None
        events = self._translator.take(update)
        if self._translator.waiting:
            self._tick_soon()
        return self.say(*events) if events else None

    async def _asked(self, message: Message) -> None:
        if self._run is None or self.replay is not None:
            self._questions.refuse(message)
            return
        events = self._questions.ask(message, self._translator)
        if not events:
            return
        self._meter.asking(open=self._questions.open)
        written = await self._hear(events)
        self._questions.unless_written(written)

    def _tick_soon(self) -> None:
        if not self._ticking:
            self._ticking = True
            self._later(TICK, lambda: self._connection.in_order(self._tick))

    def _tick(self) -> Awaitable[None] | None:
        self._ticking = False
        late, self._late = "".join(self._late), []
        events: list[i.Reportable] = [e.Notice(kind="late_words", text=late)] if late else []
        if self._run is not None:
            events += self._translator.tick()
        return self.say(*events) if events else None

    async def say(self, *events: i.Reportable) -> None:
        if events:
            await self._hear(events)

    async def _hear(self, events: Any) -> tuple[e.Event, ...]:
        self._said += 1
        heard = i.Heard(launch=self.launch, events=tuple(events), n=self._said)
        outcome = await self._submit(heard)
        written = tuple(outcome.events)
        self._meter.session = outcome.session
        if self._run is not None and any(isinstance(event, SPENDING) for event in written):
            await self._count()
        return written

    async def _count(self) -> None:
        if (near := self._meter.near()) is not None and self._run is not None:
            await self.say(e.BudgetWarned(run=self._run, limit=near[0], percent=near[1]))
        if halt.between_rounds(self._meter.session):
            self._halt_if_reached()

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        self._timers = [t for t in self._timers if not t.cancelled() and t.when() > 0]
        self._timers.append(asyncio.get_running_loop().call_later(seconds, what))

    # --- the end ----------------------------------------------------------------------------------------

    async def end(self) -> None:
        """Returns when its whole tree is gone."""
        self._connection.close("It was ended.")
        await self._connection.finished()

    async def _gone(self, gone: Gone) -> None:
        for timer in self._timers:
            timer.cancel()
        # Its output ends a little before it does: how it ended is worth the wait.
        exited = (
            self._process.exited.is_set() if gone.ours else await self._process.exited_within(1)
        )
        await self._process.end()
        code = self._process.code() if exited else None
        self._process.close()
        with contextlib.suppress(JournalError):
            session, over = self._meter.session, self._meter.over
            if over is not None and session.run is not None:  # it did not stop when it was told to
                await self._submit(halt.halted(session, self.launch, over))
            verdict, now = self._verdict, self._clock.now()
            told = exits.exited(
                self.launch, self._connection, gone, code=code, verdict=verdict, now=now
            )
            await self._submit(told)
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
