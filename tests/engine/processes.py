"""Agents as processes in a world that outlives engines.

Three kinds. `BUILTIN` lives inside an engine and dies with it; it intends, waits for the journal and
only then acts. `CHILD` is a foreign agent that dies with its engine; `APART` is one that does not (it
lives in tmux, say): whichever engine there is then hears it. They obey: interrupted, they say so;
killed, they are gone. What they say waits until the machine lets it through.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from holdfast.core import effects as f
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import CallId, DecisionId, RoundNumber, SessionId, Token
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe
from holdfast.core.session import Call, CallStatus, Decision, EffectClass, Session, StopReason
from holdfast.core.truth import Lost, NoTruth, Truth, Workspace
from holdfast.engine.engine import Outcome
from holdfast.ports import Errand, JournalError
from tests.engine.direct import Life

CLASSES = tuple(EffectClass)


class Kind(StrEnum):
    BUILTIN = "builtin"
    CHILD = "child"
    APART = "apart"


class Gone(Exception):
    """Nobody wants to hear this process any more."""


class Process:
    def __init__(self, session: SessionId, launch: int, life: Life) -> None:
        self.session, self.launch, self.life = session, launch, life
        self.alive = True
        self.stray = False  # of an engine that stood still for too long: it ends when it is heard
        self.booted = False
        self.prompts: asyncio.Queue[tuple[int, Session]] = asyncio.Queue()
        self.taken: set[str] = set()
        self.runs: list[int] = []
        self.answers: set[str] = set()
        self.answered = asyncio.Event()
        self.main: asyncio.Task[None] | None = None
        self.play: asyncio.Task[None] | None = None


class World:
    def __init__(self, kind: Kind, *, inline: bool, blind: bool) -> None:
        self.kind, self.inline = kind, inline
        self.blind = blind and kind is Kind.APART  # nobody can tell whether a process lives
        self.current: Life | None = None
        self.processes: list[Process] = []
        self.permits = asyncio.Semaphore(0)
        self.unsaid = 0
        self.reborn = asyncio.Event()
        self.reason = StopReason.COMPLETED
        self.effects: Counter[tuple[str, int]] = Counter()
        self.told: Counter[str] = Counter()
        self.heard: list[i.Heard] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self.failures = 0  # errands that fail next
        self.lost = False  # the workspace is gone
        self.rebuilt = 0

    def living(self) -> list[Process]:
        return [p for p in self.processes if p.alive and not p.stray]

    def process(self, launch: int) -> Process | None:
        return next((p for p in self.processes if p.launch == launch and not p.stray), None)

    def task(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def adopt(self, life: Life) -> None:
        """An engine has come up: processes that live apart are heard by it from now on."""
        for p in self.processes:
            if p.life is not life and p.alive:
                if self.kind is Kind.APART:
                    p.life = life
                elif p.life.dead:
                    self.vanish(p)
                else:
                    p.stray = True
        self.current = life
        self.reborn.set()
        self.reborn = asyncio.Event()

    def vanish(self, p: Process) -> None:
        p.alive = False
        for task in (p.play, p.main):
            if task is not None:
                task.cancel()

    def fall(self, p: Process) -> None:
        """It dies by itself, and somebody notices."""
        self.vanish(p)
        self.task(self._last_words(p, i.AgentExited(launch=p.launch, exit_code=1)))

    # --- what a process says --------------------------------------------------------------------

    async def say(self, p: Process, report: i.Report, *, at_once: bool = False) -> Outcome:
        self.unsaid += 1
        try:
            while True:
                if not at_once:
                    await self.permits.acquire()
                life = p.life
                if life.dead:
                    if self.kind is not Kind.APART:
                        raise Gone
                    if self.current is None or self.current.dead:
                        await self.reborn.wait()
                    assert self.current is not None
                    p.life = life = self.current
                task = life.spawn(life.engine.submit(p.session, report))
                if not await life.finish(task):
                    continue  # the power went: whether it was heard nobody knows
                try:
                    outcome: Outcome = task.result()
                except JournalError:
                    if p.stray or self.kind is not Kind.APART:
                        p.alive = False
                        raise Gone from None
                    continue
                if isinstance(report, i.Heard):
                    self.heard.append(report)
                return outcome
        finally:
            self.unsaid -= 1

    async def _last_words(self, p: Process, report: i.Report) -> None:
        try:
            await self.say(p, report)
        except Gone:
            return

    async def live(self, p: Process) -> None:
        try:
            await self.boot(p, at_once=False)
            while True:
                run, session = await p.prompts.get()
                p.runs.append(run)
                p.play = self.task(self._play(p, run, session))
                await asyncio.wait({p.play})
                if self.kind is Kind.BUILTIN:
                    p.alive = False
                    return
        except Gone:
            p.alive = False

    async def boot(self, p: Process, *, at_once: bool) -> None:
        if p.booted and not at_once:
            return
        p.booted = True
        await self.say(p, i.AgentStarted(launch=p.launch), at_once=at_once)
        token = None if self.kind is Kind.BUILTIN else Token(f"t{p.launch}")
        await self.say(p, i.AgentReady(launch=p.launch, token=token), at_once=at_once)

    async def _play(self, p: Process, run: int, session: Session) -> None:
        try:
            await _Play(self, p, run, session).all()
        except Gone:
            p.alive = False

    async def stop(self) -> None:
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


class _Play:
    """One run: rounds with text, calls of every class, now and then a question."""

    def __init__(self, world: World, p: Process, run: int, session: Session) -> None:
        self.w, self.p, self.run, self.session = world, p, run, session

    async def all(self) -> None:
        for c in self.session.calls:
            if c.status is CallStatus.PENDING:
                await self.call(c.call, c.attempt + 1)
        for _ in range(3):
            await self.round()
        finished = i.RunFinished(launch=self.p.launch, run=self.run, reason=self.w.reason)
        self.p.alive = self.w.kind is not Kind.BUILTIN
        await self.w.say(self.p, finished)

    async def round(self) -> None:
        n, r = self.session.responses, RoundNumber(self.session.round + 1)
        calls = tuple(
            Call(id=CallId(f"r{r}.{k}"), name="tool", effect=CLASSES[(n + k) % 4], part=k + 1)
            for k in range(1 + n % 3)
        )
        await self.heard(e.RoundStarted(round=r))
        await self.heard(e.TextSaved(round=r, text="half ", offset=0))
        await self.heard(e.TextSaved(round=r, text="whole", offset=5))
        if self.w.kind is Kind.BUILTIN:
            await self.heard(e.ResponseFinished(round=r, calls=calls))
        else:
            await self.heard(e.ResponseFinished(round=r))
        for call in calls:
            if call.effect is EffectClass.UNSAFE:
                await self.ask(call)
            await self.call(call, 1)

    async def call(self, call: Call, attempt: int) -> None:
        if self.w.kind is Kind.BUILTIN:
            intended = e.CallIntended(call=call.id, attempt=attempt)
            if not await self.heard(intended):
                raise Gone  # what was not written down is not done
            await self.p.life.boundary()
            self.w.effects[call.id, attempt] += 1
            await self.p.life.boundary()
        else:
            await self.heard(e.CallObserved(round=self.session.round, call=call))
        await self.heard(e.CallFinished(call=call.id, attempt=attempt, output="ok"))

    async def ask(self, call: Call) -> None:
        id = DecisionId(f"q-{call.id}-{self.p.launch}")
        question = Decision(id=id, kind="permission", text="May I?", call=call.id)
        await self.heard(e.DecisionAsked(decision=question))
        while id not in self.p.answers and any(d.id == id for d in self.session.decisions):
            self.p.answered.clear()
            await self.p.answered.wait()

    async def heard(self, event: i.Reportable) -> bool:
        outcome = await self.w.say(self.p, i.Heard(launch=self.p.launch, events=(event,)))
        self.session = outcome.session
        return event in outcome.events


class Adapters:
    """The ports of one engine, over the one world. The power may go on either side of every errand."""

    def __init__(self, world: World, life: Life) -> None:
        self.w, self.life = world, life

    def abilities(self, _session: Session) -> Abilities:
        builtin = self.w.kind is Kind.BUILTIN
        return Abilities(replay=builtin, native=not builtin, needs_process=not builtin, inject=True)

    async def _act(self) -> None:
        await self.life.boundary()
        if self.w.failures:
            self.w.failures -= 1
            raise OSError("the world said no")

    async def start(self, errand: Errand, session: Session) -> None:
        await self._act()
        assert isinstance(errand.effect, f.StartAgent)
        p = self.w.process(errand.effect.launch)
        if p is None:
            p = Process(session.id, errand.effect.launch, self.life)
            p.stray = self.life is not self.w.current
            assert p.stray or not self.w.living(), "the one before is not gone"
            self.w.processes.append(p)
            await self._come_up(p)
        elif p.alive:  # found again: it says once more that it is there
            self.w.task(self._again(p))
        else:
            self.w.task(self.w._last_words(p, i.AgentExited(launch=p.launch)))
        await self.life.boundary()

    async def _come_up(self, p: Process) -> None:
        if not self.w.inline:
            p.main = self.w.task(self.w.live(p))
            return
        p.booted = True
        p.main = self.w.task(self.w.live(p))
        await self._again(p, at_once=True)

    async def _again(self, p: Process, *, at_once: bool = False) -> None:
        try:
            await self.w.say(p, i.AgentStarted(launch=p.launch), at_once=at_once)
            token = None if self.w.kind is Kind.BUILTIN else Token(f"t{p.launch}")
            await self.w.say(p, i.AgentReady(launch=p.launch, token=token), at_once=at_once)
        except Gone:
            self.w.vanish(p)

    async def deliver(self, errand: Errand, session: Session) -> None:
        await self._act()
        assert isinstance(errand.effect, f.DeliverPrompt)
        p = self.w.process(errand.effect.launch)
        if p is not None and p.alive and errand.id not in p.taken:
            p.taken.add(errand.id)
            p.prompts.put_nowait((errand.effect.run, session))
        await self.life.boundary()

    async def interrupt(self, errand: Errand, session: Session) -> None:
        await self._act()
        assert isinstance(errand.effect, f.InterruptAgent)
        p, run = self.w.process(errand.effect.launch), errand.effect.run
        if p is not None and p.alive:
            if p.play is not None and p.runs[-1:] == [run]:
                p.play.cancel()
            finished = i.RunFinished(launch=p.launch, run=run, reason=StopReason.CANCELLED)
            self.w.task(self.w._last_words(p, finished))
        await self.life.boundary()

    async def kill(self, errand: Errand, session: Session) -> None:
        await self._act()
        assert isinstance(errand.effect, f.KillAgent)
        p = self.w.process(errand.effect.launch)
        if p is not None and p.alive:
            self.w.vanish(p)
            self.w.task(self.w._last_words(p, i.AgentExited(launch=p.launch, signal=9)))
        await self.life.boundary()

    async def answer(self, errand: Errand, session: Session) -> None:
        await self._act()
        assert isinstance(errand.effect, f.RelayAnswer)
        p = self.w.process(errand.effect.launch)
        if p is not None:
            p.answers.add(errand.effect.decision)
            p.answered.set()
        await self.life.boundary()

    async def alive(self, session: Session) -> bool | None:
        await self.life.boundary()
        if self.w.blind:
            return None
        assert session.launch is not None or session.run is not None
        p = self.w.process(session.launch.number) if session.launch else None
        mine = p is not None and (self.w.kind is Kind.APART or p.life is self.life)
        return p is not None and mine and p.alive

    def rejoin(self, session: Session) -> None:
        return  # whoever plays it finds the engine by itself

    async def there(self, session: Session, token: Token) -> bool | None:
        await self.life.boundary()
        return True

    # --- workspaces and the person ----------------------------------------------------------------

    async def lost(self, session: Session) -> Lost | None:
        await self.life.boundary()
        return Lost(path="/w", source="a snapshot") if self.w.lost else None

    async def truth(self, session: Session) -> Truth | NoTruth:
        await self.life.boundary()
        if self.w.lost:
            return NoTruth(error="it is not there", missing=True)
        return Truth(head="a" * 40, branch="main")

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        await self.life.boundary()
        done = {call for call, _ in self.w.effects}
        return {c.id: Probe.DONE if c.id in done else Probe.NOT_DONE for c in calls}

    async def snapshot(self, errand: Errand, session: Session) -> None:
        await self._act()
        assert isinstance(errand.effect, f.TakeSnapshot)
        if self.w.lost:
            lost = e.WorkspaceLost(why="it is not there")
            await self.life.engine.submit(session.id, i.Heard(events=(lost,)))
            return
        taken = e.WorkspaceSnapshotted(number=errand.effect.number, commit="b" * 40)
        await self.life.engine.submit(session.id, i.Heard(events=(taken,)))

    async def rewind(self, errand: Errand, session: Session) -> None:
        await self._act()

    remove = rewind

    async def bring_back(self, errand: Errand, session: Session) -> None:
        await self._act()
        if not (self.w.lost or session.workspace_lost):
            return
        self.w.lost, self.w.rebuilt = False, self.w.rebuilt + self.w.lost
        await self.life.boundary()
        told = e.WorkspaceRebuilt(workspace=session.workspace)
        await self.life.engine.submit(session.id, i.Heard(events=(told,)))

    async def fork(self, session, child, *, rounds, tip):
        await self._act()
        return Workspace(id=child, path=f"/{child}", git=False)

    async def losses(self, session: Session) -> tuple[str, ...]:
        return ()

    async def tell(self, errand: Errand, session: Session) -> None:
        await self._act()
        self.w.told[errand.id] += 1
