"""Drop the engine anywhere, start another on the same journal: nothing is lost, nothing is doubled.

A machine of commands, reports, power cuts, takeovers and clock jumps. FULL=1 looks much longer.
"""

# spec: P1, P2, P3, P4, P5, P8, P9, A4, A5, A7, A9, D1, D8, G2, G5

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import DecisionId, InputId, LaunchNumber, Millis, TimerId
from holdfast.core.session import Session, StopReason, Timer
from holdfast.core.truth import Workspace
from holdfast.engine.engine import LEASE
from holdfast.engine.recovery import renew_once
from tests.engine.place import Place
from tests.engine.processes import Kind

FUSE = st.none() | st.integers(0, 24)


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
        self.place.world.reason = reason
        self.place.run(self.place.work(count, fuse=fuse, then=then))

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

    @rule()
    def the_workspace_is_removed(self):
        self.place.world.lost = True

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
SHRINK = not os.environ.get("NOSHRINK")  # to see quickly whether it fails, not how
TestCrash = Crash.TestCase
TestCrash.settings = settings(
    max_examples=3_000 if FULL else 100,
    stateful_step_count=60 if FULL else 30,
    deadline=None,
    derandomize=not FULL,
    print_blob=True,
    phases=[phase for phase in Phase if SHRINK or phase is not Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
