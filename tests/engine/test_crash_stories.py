"""The crash machine's findings and the plainest crashes, told in order: what it may miss, these do not."""

# spec: P1, P2, P3, P4, P5, P8, P9, A4, E6, E8, G5

import asyncio

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import DecisionId, InputId, LaunchNumber, Millis, TimerId
from holdfast.core.session import Decision, Evidence, State, StopReason, Timer
from holdfast.core.truth import Workspace
from tests.engine.place import Place, S
from tests.engine.processes import Kind

ALL = tuple(Kind)
FOREIGN = (Kind.CHILD, Kind.APART)


class Story:
    """A place that is left clean: every law holds after every step, and all comes to an end."""

    def __init__(self, kind, *, inline=False, blind=False, git=False):
        self.place = Place(kind, inline=inline, blind=blind, git=git)
        self.do(i.OpenSession(agent="x", workspace=Workspace(id="w", path="/w", git=git)))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.place.run(self.place.end())
        finally:
            self.place.remove()

    def do(self, *inputs, fuse=None, then=None):
        results = self.place.run(self.place.submit(*inputs, fuse=fuse, then=then))
        self.place.check()
        return results

    def prompt(self, id="i1", **how):
        return self.do(i.SendPrompt(input=InputId(id), text="go"), **how)

    def work(self, count, *, fuse=None, then=None):
        self.place.run(self.place.work(count, fuse=fuse, then=then))
        self.place.check()

    def answer(self):
        for question in self.session.decisions:
            self.do(i.AnswerDecision(decision=question.id, answer="yes"))

    def cut(self, then=None):
        self.place.life.die()
        self.place.run(self.place.mourn(then))
        self.place.check()

    @property
    def session(self):
        return self.place.stored()[1]

    @property
    def events(self):
        return self.place.stored()[0]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("kind", ALL)
def test_the_power_goes_at_every_boundary_of_a_prompt(kind, inline):
    for fuse in range(40):
        with Story(kind, inline=inline, git=True) as story:
            story.prompt(fuse=fuse)
            story.work(5)
            story.do(i.ContinueRun())


@pytest.mark.parametrize("kind", ALL)
def test_the_power_goes_at_every_boundary_of_the_work(kind):
    ends = set()
    for fuse in range(110):
        with Story(kind) as story:
            story.prompt()
            story.work(4)
            story.work(40, fuse=fuse)
            ends.add(len(story.place.lives))
            story.do(i.ContinueRun())

    assert ends == {1, 2}  # the last ones came through


def test_calls_that_were_cut_off_are_run_again_only_by_rule_or_by_decision():
    seen = set()
    for fuse in range(4, 60):
        with Story(Kind.BUILTIN) as story:
            story.prompt()
            story.work(40, fuse=fuse)
            unknown = tuple(c.call.id for c in story.session.open_calls)
            story.do(i.ContinueRun(rerun=unknown))
            story.work(40)
            seen |= {type(event) for event in story.events}
            seen |= {event.by for event in story.events if isinstance(event, e.RerunDecided)}
            seen |= {event.how for event in story.events if isinstance(event, e.CallClosed)}

    assert {e.RerunDecided, "rule", "not_started"} <= seen


@pytest.mark.parametrize("then", [0, 3, 6, 9, 12, None])
@pytest.mark.parametrize("kind", ALL)
def test_the_power_goes_again_during_the_recovery(kind, then):
    with Story(kind, git=True) as story:
        story.prompt()
        story.work(7)
        story.cut(then)

        assert story.session.run is None or kind is Kind.APART


@pytest.mark.parametrize("place", range(1, 12))
def test_an_engine_that_stood_still_is_fenced_when_it_wakes_up(place):
    for kind in ALL:
        with Story(kind) as story:
            story.prompt()
            story.work(place)
            story.place.run(story.place.take_over())
            story.place.check()
            story.do(i.ContinueRun())
            story.place.run(story.place.thaw())
            story.place.check()


@pytest.mark.parametrize("kind", ALL)
def test_a_stop_while_starting_calls_the_launch_off(kind):
    with Story(kind) as story:
        story.prompt()
        story.do(i.CancelRun())
        story.work(3)

        assert story.session.last_stop is not None
        assert story.session.last_stop.reason is StopReason.CANCELLED
        assert story.place.world.living() == []


@pytest.mark.parametrize("fuse", range(20))
def test_a_cancel_is_never_turned_into_an_interruption_by_a_crash(fuse):
    with Story(Kind.BUILTIN) as story:
        story.prompt()
        story.work(5)
        (outcome,) = story.do(i.CancelRun(), fuse=fuse)
        story.work(3)
        last = story.session.last_stop

        assert last is not None
        assert outcome is None or last.reason is StopReason.CANCELLED


@pytest.mark.parametrize("delivered", [False, True])
@pytest.mark.parametrize("kind", FOREIGN)
def test_an_agent_that_refuses_its_token_is_gone_before_the_next_one_starts(kind, delivered):
    with Story(kind) as story:
        story.prompt("i1")
        story.work(40)
        story.answer()
        story.work(40)
        for p in story.place.world.living():
            story.place.run(_fall(story, p))
        story.work(2)
        story.prompt("i2")
        story.work(2 if delivered else 1)
        refused = story.session.launch
        assert refused is not None
        story.do(i.TokenRefused(launch=refused.number, why="no such conversation"))

        assert (story.session.run is None) is delivered
        assert [p.launch for p in story.place.world.living()] in ([], [refused.number + 1])
        if delivered:
            assert story.session.state is State.WAITING_FOR_INPUT
            assert story.session.last_stop is not None
            assert story.session.last_stop.reason is StopReason.ERROR


@pytest.mark.parametrize("kind", ALL)
def test_an_agent_that_dies_stops_its_run_and_says_how(kind):
    with Story(kind) as story:
        story.prompt()
        story.work(5)
        story.place.run(_fall(story, story.place.world.living()[0]))
        story.work(1)

        assert story.session.run is None
        assert story.session.last_stop is not None
        assert story.session.last_stop.reason is StopReason.ERROR
        assert story.session.last_stop.evidence == Evidence(exit_code=1)


async def _fall(story, p):
    story.place.world.fall(p)
    await story.place.rest()


def test_an_agent_that_was_started_but_never_got_to_say_ready_is_started_again():
    """The power went between the two: nobody else will ever say it."""
    for fuse in range(30):
        with Story(Kind.APART, inline=True) as story:
            story.prompt(fuse=fuse)


def test_a_session_that_cannot_start_says_why_its_run_ended():
    with Story(Kind.BUILTIN) as story:
        story.prompt()
        story.do(i.StartFailed(message="no such agent"))

        assert story.session.state is State.FAILED
        assert [type(x).__name__ for x in story.events][-2:] == ["RunStopped", "SessionFailed"]


def test_a_question_that_was_answered_is_not_asked_again_by_a_replay():
    with Story(Kind.APART) as story:
        story.prompt()
        story.work(40)
        asked = [h for h in story.place.world.heard if isinstance(h.events[0], e.DecisionAsked)]
        assert asked
        story.answer()
        story.cut()
        (again,) = story.do(asked[0])

        assert (again.events, story.session.decisions) == ((), ())


def test_an_earlier_round_that_is_told_again_opens_no_call():
    with Story(Kind.APART) as story:
        story.prompt()
        story.work(40)
        story.answer()
        story.work(3)
        seen = [h for h in story.place.world.heard if isinstance(h.events[0], e.CallObserved)]
        (again,) = story.do(seen[0])

        assert again.events == ()


def test_a_session_that_is_closed_and_reopened_at_once_gets_another_agent():
    with Story(Kind.CHILD) as story:
        story.prompt("i1")
        story.work(3)
        story.do(i.CloseSession(cancelled=True), i.ReopenSession())
        story.prompt("i2")
        story.work(4)

        assert [p.launch for p in story.place.world.living()] == [LaunchNumber(2)]
        assert story.session.run is not None


def test_a_debt_that_arrives_at_any_moment_of_paying_another_is_paid():
    """A worker that is about to go home must not be told: somebody has to look once more."""

    async def at(story, turns, last):
        life = story.place.life
        life.spawn(life.engine.submit(S, asked("q1")))
        for _ in range(turns):
            await asyncio.sleep(0)
        life.spawn(life.engine.submit(S, asked(last)))
        await story.place.rest()

    for turns in range(60):
        with Story(Kind.BUILTIN) as story:
            story.prompt()
            story.work(3)
            story.place.run(at(story, turns, "q2"))

            assert not story.place.owed(), turns


def asked(id):
    question = Decision(id=DecisionId(id), kind="question", text="?")
    return i.Heard(events=(e.DecisionAsked(decision=question),))


def test_a_timer_survives_every_crash_and_fires_once():
    for fuse in range(12):
        with Story(Kind.BUILTIN) as story:
            due = Millis(story.place.clock.now() + 1_000)
            story.do(i.SetTimer(timer=Timer(id=TimerId("t"), due=due, what="x")))
            story.cut(fuse)
            story.place.run(story.place.advance(2_000, fuse))
            story.place.run(story.place.advance(2_000))

            assert sum(isinstance(x, e.TimerFired) for x in story.events) == 1, fuse
