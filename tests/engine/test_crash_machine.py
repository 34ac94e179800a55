"""Drop the engine anywhere, start another on the same journal: nothing is lost, nothing is doubled.

A machine of commands, reports, power cuts, takeovers and clock jumps. FULL=1 looks much longer.
"""

# spec: P1, P2, P3, P4, P5, P8, P9, A4, A5, A7, A9, D1, G2, G5

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core import effects as f
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.core.ids import DecisionId, InputId, LaunchNumber, Millis, SessionId, TimerId
from holdfast.core.session import Session, StopReason, Timer
from holdfast.core.truth import Workspace
from holdfast.engine.engine import LEASE, Engine, Outcome
from holdfast.engine.outbox import Outbox
from holdfast.engine.recovery import recover, renew_once
from holdfast.journal.sqlite_store import SqliteStore
from holdfast.ports import Fenced, Held
from holdfast.testing.clock import FakeClock
from tests.engine import laws
from tests.engine.direct import DirectJournal, Life
from tests.engine.processes import Adapters, Kind, World

S = SessionId("00000000000a")
SHM = "/dev/shm" if Path("/dev/shm").is_dir() else None
FUSE = st.none() | st.integers(0, 24)
PATIENCE = 100  # steps in which a run must have come to its end once faults are off


class Place:
    """A journal, a world, and the engines that come and go."""

    def __init__(self, kind: Kind, *, inline: bool, blind: bool, git: bool) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-crash-", dir=SHM))
        self.path = self.folder / "journal.db"
        self.git = git
        self.clock = FakeClock()
        self.dead: set[str] = set()
        self.lives: list[Life] = []
        self.journals: list[DirectJournal] = []
        self.stale: Life | None = None
        self.acknowledged: set[str] = set()
        self.shown = 0
        self.generation = 0
        self.world = World(kind, inline=inline, blind=blind)
        self.run(self.boot())
        self.reader = SqliteStore(self.path)

    def run(self, work):
        return self.loop.run_until_complete(work)

    @property
    def life(self) -> Life:
        return self.lives[-1]

    async def boot(self, fuse: int | None = None) -> None:
        """Another engine, under another name, on the same journal. It may die while it recovers."""
        life = Life(f"owner-{len(self.lives)}")
        journal = DirectJournal(self.path, life, self.dead)
        await journal.open()
        ports = Adapters(self.world, life)
        life.engine = Engine(
            journal=journal, clock=self.clock, agents=ports, workspaces=ports, owner=life.owner
        )
        life.outbox = Outbox(life.engine, ports)
        life.outbox.start()
        self.lives.append(life)
        self.journals.append(journal)
        self.world.adopt(life)
        life.fuse = fuse
        task = life.spawn(recover(life.engine, life.outbox))
        await self.rest()
        if task.done() and not task.cancelled():
            task.result()
        await self.mourn()

    async def rest(self) -> None:
        """Until nobody has anything to do but wait."""
        for _ in range(20_000):
            await asyncio.sleep(0)
            if not self.loop._ready:
                return
        raise AssertionError("it does not come to rest")

    async def mourn(self, then: int | None = None) -> None:
        """If the power went, the next engine comes up (and may die as well)."""
        self.life.fuse = None
        if self.life.dead:
            self.dead.add(self.life.owner)
            await self.life.bury()
            await self.boot(then)

    async def submit(self, *inputs: i.Input, fuse: int | None, then: int | None = None):
        """All at once, to the newest engine. What came of each; None where the power went."""
        self.life.fuse = fuse
        tasks = [self.life.spawn(self.life.engine.submit(S, given)) for given in inputs]
        await self.rest()
        results = []
        for given, task in zip(inputs, tasks, strict=True):
            failure = None if task.cancelled() or not task.done() else task.exception()
            if failure is not None and not isinstance(failure, Refused | Held | Fenced):
                raise failure
            outcome = task.result() if task.done() and not failure else None
            results.append(outcome)
            self._note(given, outcome)
        await self.mourn(then)
        return results

    def _note(self, given: i.Input, outcome: Outcome | None) -> None:
        if outcome is None:
            return
        self.shown = max(self.shown, outcome.session.seq)
        if isinstance(given, i.SendPrompt):
            self.acknowledged.add(given.input)

    async def advance(self, millis: int, fuse: int | None = None) -> None:
        self.life.fuse = fuse
        await self.clock.advance(millis)
        await self.rest()
        await self.mourn()

    async def take_over(self) -> None:
        """The engine stands still for longer than its lease, in the middle of whatever it does."""
        self.stale = self.life
        self.stale.freeze()
        await self.clock.advance(LEASE + 1)
        await self.boot()

    async def thaw(self) -> None:
        """It wakes up and goes on as if nothing had happened. Then it is gone."""
        stale, self.stale = self.stale, None
        await renew_once(self.life.engine)
        task = stale.spawn(stale.engine.submit(S, i.RenameSession(title=stale.owner)))
        held = self.life.engine.sessions.get(S)
        owned = held is not None and held.lease is not None
        stale.thaw()
        await self.rest()
        failure = task.exception() if task.done() else None
        assert not owned or isinstance(failure, Fenced | Held), failure
        self.dead.add(stale.owner)
        await stale.bury()
        for p in self.world.processes:
            if p.life is stale:
                self.world.vanish(p)
        await self.rest()

    def stored(self) -> tuple[list[e.Event], Session]:
        return laws.replay(self.reader, S)

    def owed(self) -> bool:
        """Timers wait apart."""
        return any(not isinstance(o.effect, f.WakeSession) for o in self.reader.owed(S))

    def quiet(self) -> bool:
        workers = self.life.outbox._workers or self.life.tasks
        return not (self.owed() or self.world.unsaid or workers or self.stale)

    def check(self) -> None:
        events, session = self.stored()
        live = self.life.engine.sessions.get(S)
        if live is not None and live.lease is not None:
            assert live.session == session
        assert self.shown <= session.seq
        if events:
            laws.the_list_agrees(self.reader, session)
        laws.one_run_at_a_time(events)
        laws.a_stopped_session_says_why(session)
        laws.inputs_are_there_once(events, session, self.acknowledged)
        laws.questions_survive(events, session)
        laws.effects_happen_once_per_decision(events, self.world)
        laws.one_process_at_a_time(self.world)
        self._generations()
        if self.quiet():
            laws.belief_equals_world(session, self.world)

    def _generations(self) -> None:
        row = self.reader.row(S)
        generation = row.generation if row else 0
        assert generation >= self.generation
        self.generation = generation
        given = [lease for journal in self.journals for lease in journal.leases]
        assert len({generation for generation, _ in given}) == len(given)

    async def converge(self) -> Session:
        """With faults off: everything that is under way comes to an end in bounded steps (P5)."""
        self.world.failures = 0
        for _ in range(PATIENCE * (2 + len(self.stored()[1].queue))):
            self.world.permits.release()
            await self.rest()
            _, session = self.stored()
            if session.decisions and session.run is not None:
                answer = i.AnswerDecision(decision=session.decisions[0].id, answer="yes")
                await self.submit(answer, fuse=None)
            if session.run is None and self.quiet():
                return session
            if self.owed() and not self.world.unsaid:
                await self.advance(60_000)
        under_way = (self.reader.owed(S), self.world.unsaid, self.life.outbox._workers)
        raise AssertionError(f"it does not converge: {under_way}, {self.stored()[1]}")

    async def end(self) -> None:
        if self.stale is not None:
            await self.thaw()
        session = await self.converge()
        self.check()
        if session.runs and not session.terminal:
            self.world.reason = StopReason.COMPLETED
            while session.run is None and (session.queue or _unfinished(session)):
                await self.submit(i.ContinueRun(), fuse=None)
                session = await self.converge()
                self.check()

    async def close(self) -> None:
        for life in self.lives:
            await life.bury()
        await self.world.stop()
        for journal in self.journals:
            await journal.close()

    def remove(self) -> None:
        self.run(self.close())
        self.reader.close()
        self.loop.close()
        shutil.rmtree(self.folder)


def _unfinished(session: Session) -> bool:
    return session.last_stop is None or session.last_stop.reason is not StopReason.COMPLETED


class Crash(RuleBasedStateMachine):
    @initialize(
        kind=st.sampled_from(Kind), inline=st.booleans(), blind=st.booleans(), git=st.booleans()
    )
    def begin(self, kind, inline, blind, git):
        self.place = Place(kind, inline=inline, blind=blind, git=git)
        self.inputs = 0
        workspace = Workspace(id="w", path="/w", git=git)
        self.submit(i.OpenSession(agent="x", workspace=workspace))

    def submit(self, *inputs, fuse=None, then=None):
        return self.place.run(self.place.submit(*inputs, fuse=fuse, then=then))

    def session(self) -> Session:
        return self.place.stored()[1]

    # --- commands ---------------------------------------------------------------------------------

    def _prompt(self) -> i.SendPrompt:
        self.inputs += 1
        return i.SendPrompt(input=InputId(f"i{self.inputs}"), text=f"do {self.inputs}")

    @rule(fuse=FUSE, then=FUSE)
    def prompt(self, fuse, then):
        self.submit(self._prompt(), fuse=fuse, then=then)

    @rule(back=st.integers(0, 3), fuse=FUSE)
    def prompt_again(self, back, fuse):
        """A client that got no answer sends the same input once more."""
        given = InputId(f"i{max(self.inputs - back, 1)}")
        self.submit(i.SendPrompt(input=given, text="again"), fuse=fuse)

    @rule(message=st.sampled_from([None, "and tidy up"]), fuse=FUSE, then=FUSE)
    def resume(self, message, fuse, then):
        self.submit(i.ContinueRun(message=message), fuse=fuse, then=then)

    @rule(fuse=FUSE)
    def resume_with_reruns(self, fuse):
        calls = tuple(c.call.id for c in self.session().open_calls)
        self.submit(i.ContinueRun(rerun=calls), fuse=fuse)

    @rule(fuse=FUSE, then=FUSE)
    def cancel(self, fuse, then):
        self.submit(i.CancelRun(), fuse=fuse, then=then)

    @rule(fuse=FUSE)
    def cancel_and_go_on_at_once(self, fuse):
        self.submit(i.CancelRun(), self._prompt(), i.ContinueRun(), fuse=fuse)

    @rule(fuse=FUSE)
    def two_at_once(self, fuse):
        self.submit(i.ContinueRun(), i.ContinueRun(), fuse=fuse)

    @precondition(lambda self: self.session().queue)
    @rule(withdraw=st.booleans(), fuse=FUSE)
    def change_the_queue(self, withdraw, fuse):
        first = self.session().queue[0].id
        change = i.WithdrawInput(input=first) if withdraw else i.EditInput(input=first, text="x")
        self.submit(change, fuse=fuse)

    @precondition(lambda self: self.session().decisions)
    @rule(fuse=FUSE)
    def answer(self, fuse):
        question = self.session().decisions[0].id
        given = i.AnswerDecision(decision=question, answer="yes")
        self.submit(given, given, fuse=fuse)

    @rule()
    def answer_nothing(self):
        (outcome,) = self.submit(i.AnswerDecision(decision=DecisionId("?"), answer="yes"))
        assert outcome is None

    @rule(really=st.integers(0, 9), fuse=FUSE)
    def close(self, really, fuse):
        """Seldom, and mostly so that it can be reopened: nothing happens in a closed session."""
        if really > 6:
            self.submit(i.CloseSession(cancelled=really < 9), fuse=fuse)

    @precondition(lambda self: self.session().terminal)
    @rule(fuse=FUSE)
    def reopen(self, fuse):
        self.submit(i.ReopenSession(), fuse=fuse)

    @rule(fuse=FUSE)
    def reattach(self, fuse):
        self.submit(i.Reattach(), fuse=fuse)

    @rule(due=st.integers(0, 20_000), what=st.sampled_from(["continue", "x"]), fuse=FUSE)
    def set_timer(self, due, what, fuse):
        at = Millis(self.place.clock.now() + due)
        self.submit(i.SetTimer(timer=Timer(id=TimerId(what), due=at, what=what)), fuse=fuse)

    # --- reports ----------------------------------------------------------------------------------

    @rule(count=st.integers(1, 6))
    def agents_work_a_little(self, count):
        self.agents_work(count, StopReason.COMPLETED, None, None)

    @precondition(lambda self: self.session().run is None)
    @rule(fuse=st.none() | st.integers(0, 80), rerun=st.booleans())
    def a_run_is_cut_off_and_resumed(self, fuse, rerun):
        if not self.session().terminal:
            self.submit(i.ContinueRun() if self.session().runs else self._prompt())
            self.agents_work(20, StopReason.COMPLETED, fuse, None)
            calls = tuple(c.call.id for c in self.session().open_calls)
            self.submit(i.ContinueRun(rerun=calls if rerun else ()))

    @rule(
        count=st.integers(1, 25),
        reason=st.sampled_from(StopReason),
        fuse=st.none() | st.integers(0, 80),
        then=FUSE,
    )
    def agents_work(self, count, reason, fuse, then):
        async def work():
            self.place.life.fuse = fuse
            self.place.world.reason = reason
            for _ in range(count):
                self.place.world.permits.release()
            await self.place.rest()
            await self.place.mourn(then)

        self.place.run(work())

    @rule()
    def an_agent_dies(self):
        async def fall():
            for p in self.place.world.living():
                self.place.world.fall(p)
            await self.place.rest()

        self.place.run(fall())

    @rule(fuse=FUSE)
    def the_token_is_refused(self, fuse):
        launch = self.session().launch
        if launch is not None and launch.alive and self.place.world.kind is not Kind.BUILTIN:
            self.submit(i.TokenRefused(launch=launch.number, why="unknown"), fuse=fuse)

    @rule(lag=st.integers(1, 3), reason=st.sampled_from(StopReason))
    def late_news(self, lag, reason):
        """What an earlier launch says changes nothing."""
        session = self.session()
        launch = LaunchNumber(session.launches - lag)
        late = (
            i.AgentStarted(launch=launch),
            i.AgentReady(launch=launch),
            i.RunFinished(launch=launch, run=session.runs, reason=reason),
            i.Heard(launch=launch, events=(e.Notice(kind="x", text="x"),)),
            i.TokenRefused(launch=launch, why="?"),
            i.AgentExited(launch=launch),
        )
        for outcome in self.submit(*late):
            assert outcome is None or outcome.events == ()

    @precondition(lambda self: self.place.world.heard)
    @rule(data=st.data())
    def said_again(self, data):
        """P2: a report that comes once more is not written down once more. Except for one kind: the
        result of a call of an earlier round is taken for one that overtook its call."""
        again = data.draw(st.sampled_from(self.place.world.heard))
        here = {c.call.id for c in self.session().calls}
        if isinstance(again.events[0], e.CallFinished) and again.events[0].call not in here:
            return
        before = {x for x in self.place.stored()[0] if isinstance(x, type(again.events[0]))}
        for outcome in self.submit(again):
            assert outcome is None or not set(outcome.events) & before

    # --- trouble ----------------------------------------------------------------------------------

    @rule(then=FUSE)
    def the_power_goes(self, then):
        self.place.life.die()
        self.place.run(self.place.mourn(then))

    @rule(count=st.integers(1, 3))
    def errands_fail(self, count):
        self.place.world.failures = count

    @rule(millis=st.sampled_from([500, 1_000, 5_000, LEASE + 1, 60_000]), fuse=FUSE)
    def time_passes(self, millis, fuse):
        self.place.run(self.place.advance(millis, fuse))

    @rule()
    def leases_are_renewed(self):
        async def renew():
            await renew_once(self.place.life.engine)
            await self.place.rest()

        self.place.run(renew())

    @precondition(lambda self: self.place.stale is None)
    @rule()
    def another_engine_takes_over(self):
        self.place.run(self.place.take_over())

    @precondition(lambda self: self.place.stale is not None)
    @rule()
    def the_first_one_wakes_up(self):
        self.place.run(self.place.thaw())

    # --- laws -------------------------------------------------------------------------------------

    @invariant()
    def the_laws_hold(self):
        if hasattr(self, "place"):
            self.place.check()

    def teardown(self):
        if hasattr(self, "place"):
            try:
                self.place.run(self.place.end())
            finally:
                self.place.remove()


FULL = bool(os.environ.get("FULL"))
TestCrash = Crash.TestCase
TestCrash.settings = settings(
    max_examples=3_000 if FULL else 100,
    stateful_step_count=60 if FULL else 30,
    deadline=None,
    derandomize=not FULL,
    print_blob=True,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
