"""A workspace that is gone: what was wanted in it begins once it is back, whatever dies meanwhile."""

# spec: D5, D8, D9, G5, A7, A9, P3, P5, P8

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import InputId, TimerId
from holdfast.core.session import Cause, State, StopReason, Timer
from holdfast.core.truth import Drift
from tests.engine.processes import Kind
from tests.engine.rig import OPEN, Rig, S, prompt, story
from tests.engine.test_crash_stories import Story

ALL = tuple(Kind)


def ran_once(kind, **how):
    """A session whose first run is over, and whose workspace is gone."""
    told = Story(kind, git=True, **how)
    told.prompt()
    finish(told)
    told.place.world.lost = True
    return told


def finish(told):
    told.place.run(told.place.converge())
    told.place.check()


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("then", [None, 0, 4, 8])
@pytest.mark.parametrize("kind", ALL)
def test_the_power_goes_at_every_boundary_of_a_resume_over_a_lost_workspace(kind, then):
    for fuse in range(0, 40, 1 if then is None else 5):
        with ran_once(kind) as told:
            told.do(i.ContinueRun(), fuse=fuse, then=then)
            finish(told)
            begun = [r for r in of(told.events, e.RunStarted) if r.cause is Cause.CONTINUE]
            wished = [x for x in of(told.events, e.WorkspaceLost) if x.wish]

            assert len(begun) == len(wished) <= 1  # a wish that was written down comes true, once
            assert told.place.world.lost is not bool(begun)


@pytest.mark.parametrize("kind", ALL)
def test_two_resumes_at_once_make_one_workspace_and_one_run(kind):
    with ran_once(kind) as told:
        first, second = told.do(i.ContinueRun(), i.ContinueRun(message="me too"))
        finish(told)

        assert first.events and not second.events
        assert told.place.world.rebuilt == 1
        assert [r.cause for r in of(told.events, e.RunStarted)] == [Cause.PROMPT, Cause.CONTINUE]


@pytest.mark.parametrize("fuse", [None, *range(0, 30, 2)])
def test_a_prompt_to_a_lost_workspace_is_kept_and_said_once(fuse):
    with ran_once(Kind.CHILD) as told:
        told.prompt("i2", fuse=fuse)
        told.prompt("i2")  # whoever got no answer sends it again
        finish(told)
        accepted = [x for x in of(told.events, e.InputAccepted) if x.input == "i2"]
        begun = [x for x in of(told.events, e.RunStarted) if x.input == "i2"]

        assert len(accepted) == len(begun) == 1
        assert (
            begun[0].briefing is not None and "is gone and this one was made" in begun[0].briefing
        )


def test_the_run_begins_by_what_is_there_then():
    with ran_once(Kind.BUILTIN) as told:
        told.do(i.ContinueRun())
        lost, rebuilt = (
            of(told.events, e.WorkspaceLost)[-1],
            of(told.events, e.WorkspaceRebuilt)[-1],
        )
        seen, begun = of(told.events, e.WorkspaceSeen)[-1], of(told.events, e.RunStarted)[-1]
        order = [told.events.index(x) for x in (lost, rebuilt, seen, begun)]

        assert lost.source == "a snapshot" and seen.drift is Drift.WORKSPACE_MISSING
        assert begun.plan.drift is Drift.WORKSPACE_MISSING
        assert order == sorted(order)
        assert not told.session.workspace_lost and told.session.wish is None


def test_an_agent_that_lives_in_a_lost_folder_is_ended_before_it_is_made_again():
    with ran_once(Kind.APART) as told:
        before = told.session.launch
        assert before.alive
        told.do(i.ContinueRun())
        told.work(5)

        assert told.session.launch.number == before.number + 1
        assert len(told.place.world.living()) == 1


def test_a_reattach_over_a_lost_workspace_brings_both_back_and_starts_no_run():
    with ran_once(Kind.CHILD) as told:
        told.cut()  # its process goes with the engine
        told.do(i.Reattach())
        told.work(5)

        assert told.place.world.rebuilt == 1
        assert told.session.agent_alive and told.session.runs == 1
        assert told.session.state is State.WAITING_FOR_INPUT


def test_a_policy_goes_on_over_a_lost_workspace_too():
    with ran_once(Kind.BUILTIN) as told:
        now = told.place.clock.now()
        told.do(i.SetTimer(timer=Timer(id=TimerId("t"), due=now + 10, what="continue")))
        told.place.run(told.place.advance(20))
        finish(told)

        assert of(told.events, e.RunStarted)[-1].cause is Cause.POLICY
        assert told.place.world.rebuilt == 1


def test_a_run_that_loses_its_workspace_is_ended_and_says_so():
    with Story(Kind.BUILTIN, git=True) as told:
        told.prompt()
        told.work(3)
        told.place.world.lost = True
        finish(told)

        assert told.session.last_stop.reason is StopReason.ERROR
        assert "lost under the run" in told.session.last_stop.message
        told.do(i.ContinueRun())
        finish(told)
        assert told.session.last_stop.reason is StopReason.COMPLETED


# --- with a scripted world, where the workspace can be lost for good ---------------------------


@story
async def test_what_cannot_be_made_again_is_refused_and_nothing_is_written(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, prompt())
        await rig.quiet()
        before = await rig.events()
        rig.world.lose(S, "The repository /r is not there.")
        for given in (i.ContinueRun(), prompt("p2")):
            with pytest.raises(Exception, match="cannot be made again: The repository /r is not"):
                await rig.submit(given)

        assert await rig.events() == before


@story
async def test_a_wish_that_fails_leaves_the_session_as_it_was_and_the_words_in_the_queue(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, prompt())
        await rig.quiet()
        rig.world.lose(S)
        real = rig.world.bring_back

        async def fails(errand, session):
            rig.world.lose(S, "The disk is full.")
            await real(errand, session)

        rig.outbox._perform = {
            kind: fails if pay == real else pay for kind, pay in rig.outbox._perform.items()
        }
        await rig.submit(prompt("p2", "go on"))
        session = await rig.quiet()

        assert session.state is State.WAITING_FOR_INPUT and session.wish is None
        assert [q.id for q in session.queue] == ["p2"] and session.runs == 1
        assert (await rig.events())[-1] == e.WorkspaceLost(why="The disk is full.", given_up=True)


@story
async def test_a_cancel_takes_the_wish_back(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, prompt())
        await rig.quiet()
        rig.world.lose(S)
        await rig.outbox.stop()  # nobody pays for a while
        wished = await rig.submit(i.ContinueRun())
        assert wished.session.state is State.STARTING
        taken_back = await rig.submit(i.CancelRun())
        assert taken_back.session.state is State.WAITING_FOR_INPUT
        rig.outbox.wake(S)
        session = await rig.quiet()

        assert session.runs == 1 and not session.workspace_lost


@story
async def test_a_first_prompt_looks_too(folder):
    """A session that never ran has a workspace to lose as well."""
    async with Rig(folder) as rig:
        await rig.submit(OPEN)
        rig.world.lose(S)
        await rig.submit(prompt())
        session = await rig.quiet()

        assert session.last_stop.reason is StopReason.COMPLETED
        assert [type(x) for x in (await rig.events())[1:4]] == [
            e.InputAccepted,
            e.WorkspaceLost,
            e.WorkspaceRebuilt,
        ]


@story
async def test_words_taken_back_meanwhile_are_not_said(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN)
        rig.world.lose(S)
        await rig.outbox.stop()
        await rig.submit(prompt())
        # CREATED has no queue to change, STARTING has
        await rig.submit(i.WithdrawInput(input=InputId("p1")))
        rig.outbox.wake(S)
        session = await rig.quiet()

        assert session.runs == 0 and session.state is State.CREATED and session.queue == ()
