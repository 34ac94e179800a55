"""The one loop: what is submitted, what is written, who may write."""

# spec: A7, P1, P2, P3, P4, P8

import asyncio

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.core.ids import DecisionId, LaunchNumber, Millis
from holdfast.core.session import State, StopReason
from holdfast.engine.engine import LEASE
from holdfast.ports import Fenced, Held, StoreDown
from holdfast.testing.script import Reply
from tests.engine.rig import ASKS, ONE_CALL, OPEN, Rig, S, Wrapped, prompt, story, until


@story
async def test_submit_returns_what_was_written(folder):
    async with Rig(folder) as rig:
        opened = await rig.submit(OPEN)
        sent = await rig.submit(prompt())
        written = await rig.events()

        assert (*opened.events, *sent.events) == tuple(written[: sent.session.seq])
        assert opened.events == tuple(written[:1])


@story
async def test_a_whole_run_leaves_the_live_session_equal_to_its_replay(folder):
    async with Rig(folder, script=ONE_CALL) as rig:
        await rig.submit(OPEN, prompt())
        session = await rig.quiet()

        assert await rig.replay() == session
        assert session.state is State.WAITING_FOR_INPUT
        assert session.last_stop is not None
        assert session.last_stop.reason is StopReason.COMPLETED
        assert list(rig.world.done().values()) == [1]


@story
async def test_a_command_that_makes_no_sense_writes_nothing_and_keeps_no_lease(folder):
    async with Rig(folder) as rig, Rig(folder, owner="two", clock=rig.clock) as other:
        await rig.submit(OPEN)
        with pytest.raises(Refused):
            await rig.submit(i.ContinueRun())
        await other.submit(i.RenameSession(title="mine"))

        assert await rig.kinds() == ["SessionOpened", "SessionRenamed"]


@story
async def test_an_intent_that_was_not_accepted_is_not_acted_on(folder):
    """The question is answered after the run was stopped by another hand: the call never begins."""
    async with Rig(folder, script=ASKS) as rig:
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.engine.sessions[S].session.decisions)
        launch = (await rig.session()).launch
        assert launch is not None
        await rig.submit(i.AgentExited(launch=launch.number, signal=9))
        for asked in rig.agents._answers.values():
            asked.set()
        await until(lambda: rig.agents.refused == 1)

        assert rig.world.done() == {}
        assert await rig.count(e.CallIntended) == 0


@story
async def test_two_continues_at_once_start_one_run(folder):
    async with Rig(folder, script=(Reply(stop=StopReason.TOOL_LIMIT), *ASKS)) as rig:
        await rig.submit(OPEN, prompt())
        await rig.quiet()
        both = await asyncio.gather(rig.submit(i.ContinueRun()), rig.submit(i.ContinueRun()))

        assert sorted(len(o.events) > 0 for o in both) == [False, True]
        assert [o.session.run.number for o in both if o.session.run] == [2, 2]
        assert await rig.count(e.RunStarted) == 2


@story
async def test_of_two_engines_at_once_one_is_told_who_has_the_session(folder):
    async with (
        Rig(folder, script=ASKS) as one,
        Rig(folder, script=ASKS, owner="two", clock=one.clock) as two,
    ):
        await one.submit(OPEN)
        raced = await asyncio.gather(
            one.submit(prompt("a")), two.submit(prompt("b")), return_exceptions=True
        )
        held = [outcome for outcome in raced if isinstance(outcome, Held)]

        assert len(held) == 1
        assert held[0].owner in ("one", "two")
        assert held[0].until == one.clock.now() + LEASE
        assert await one.count(e.RunStarted) == 1


@story
async def test_an_idle_session_belongs_to_nobody_and_another_engine_writes_at_once(folder):
    async with Rig(folder) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, prompt())
        await one.quiet()
        await two.submit(i.RenameSession(title="two's"))
        await one.submit(i.RenameSession(title="one's"))
        row = await one.journal.row(S)

        assert row is not None
        assert row.lease_until == Millis(0)
        assert (await two.session()).title == "one's"
        assert await one.replay() == await two.session()


@story
async def test_whoever_comes_too_late_is_fenced_and_forgets_the_session(folder):
    """The first engine stood still for longer than its lease; the second one took over."""
    async with Rig(folder, script=ASKS) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, prompt())
        await until(lambda: one.engine.sessions[S].session.decisions)
        await one.clock.advance(LEASE + 1)
        await two.submit(i.RenameSession(title="two's"))
        head = (await two.session()).seq
        with pytest.raises(Fenced):
            await one.submit(i.RenameSession(title="one's"))

        assert S not in one.engine.sessions
        assert head == len(await two.events())
        assert (await one.session()).title == "two's"


@story
async def test_whoever_was_replaced_is_fenced_even_if_nothing_was_written_since(folder):
    """The head is what it believes: only the generation says that the session is another's."""

    async def lives_on(_session):
        return True

    async with Rig(folder, script=ASKS) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, prompt())
        await until(lambda: one.engine.sessions[S].session.decisions)
        head = (await one.session()).seq
        await one.clock.advance(LEASE + 1)
        two.agents.alive = lives_on
        await two.engine.own(S)
        with pytest.raises(Fenced):
            await one.submit(i.RenameSession(title="one's"))

        assert (await two.replay()).seq == head


@story
async def test_a_lease_that_is_new_to_us_means_that_the_run_was_cut_off(folder):
    async with Rig(folder, script=ASKS) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, prompt())
        await until(lambda: one.engine.sessions[S].session.decisions)
        await one.clock.advance(LEASE + 1)
        outcome = await two.submit(i.RenameSession(title="x"))

        assert [type(event) for event in outcome.events] == [e.SessionRenamed]
        assert outcome.session.last_stop is not None
        assert outcome.session.last_stop.reason is StopReason.INTERRUPTED


@story
async def test_the_same_input_twice_is_reported_and_written_once(folder):
    async with Rig(folder, script=ASKS) as rig:
        await rig.submit(OPEN, prompt("p1"))
        await until(lambda: rig.engine.sessions[S].session.decisions)
        again = await rig.submit(prompt("p1", "said again"))

        assert (again.events, again.doubled) == ((), "input:p1")
        assert await rig.count(e.InputAccepted) == 1
        assert again.session == await rig.replay()


@story
async def test_the_same_input_after_its_run_is_over_starts_nothing(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, prompt("p1"))
        await rig.quiet()
        again = await rig.submit(prompt("p1"))
        row = await rig.journal.row(S)

        assert again.doubled == "input:p1"
        assert await rig.count(e.RunStarted) == 1
        assert row is not None
        assert row.lease_until == Millis(0)


@story
async def test_news_of_an_earlier_launch_changes_nothing(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, prompt("p1"))
        await rig.quiet()
        await rig.submit(prompt("p2"))
        session = await rig.quiet()
        for late in (
            i.AgentReady(launch=LaunchNumber(1)),
            i.AgentExited(launch=LaunchNumber(1), exit_code=1),
            i.RunFinished(launch=LaunchNumber(1), run=2, reason=StopReason.ERROR),
            i.Heard(launch=LaunchNumber(1), events=(e.Notice(kind="x", text="late"),)),
            i.TokenRefused(launch=LaunchNumber(1), why="?"),
        ):
            outcome = await rig.submit(late)

            assert (outcome.events, outcome.session) == ((), session)


class BreaksOnceAfterClaim(Wrapped):
    """Whoever claims cannot read what it claimed."""

    broken = False

    async def snapshot(self, session):
        if self.broken:
            self.broken = False
            raise StoreDown("pulled out")
        return await self.inner.snapshot(session)


@story
async def test_a_claim_whose_session_could_not_be_read_is_not_kept(folder):
    async with Rig(folder) as one:
        await one.submit(OPEN)
    async with Rig(folder, owner="two", wrap=BreaksOnceAfterClaim) as two:
        two.journal.broken = True
        with pytest.raises(StoreDown, match="pulled out"):
            await two.submit(i.RenameSession(title="first"))
        outcome = await two.submit(i.RenameSession(title="second"))

        assert outcome.session.title == "second"


@story
async def test_prompts_sent_during_a_run_are_delivered_in_order_after_it(folder):
    async with Rig(folder, script=ASKS) as rig:
        await rig.submit(OPEN, *(prompt(f"p{n}") for n in range(4)))
        await until(lambda: rig.engine.sessions[S].session.decisions)
        queued = [q.id for q in (await rig.session()).queue]
        await rig.submit(i.AnswerDecision(decision=DecisionId("d-c0.0"), answer="yes"))
        await until(lambda: _runs(rig, 4))
        started = [x.input for x in await rig.events() if isinstance(x, e.RunStarted)]

        assert queued == ["p1", "p2", "p3"]
        assert started == ["p0", "p1", "p2", "p3"]


async def _runs(rig, n):
    return await rig.count(e.RunStopped) == n


class SlowToAnswer(Wrapped):
    """The write is done; whoever waited for it goes away before it hears so."""

    hold = False

    async def append(self, batch):
        await self.inner.append(batch)
        if self.hold:
            self.hold = False
            await asyncio.Event().wait()


@story
async def test_a_write_whose_caller_went_away_is_found_by_the_next_one(folder):
    async with Rig(folder, script=ASKS, wrap=SlowToAnswer) as rig:
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.engine.sessions[S].session.decisions)
        rig.journal.hold = True
        gone = asyncio.create_task(rig.submit(i.RenameSession(title="first")))
        await until(lambda: not rig.journal.hold)
        gone.cancel()
        await asyncio.wait({gone})
        outcome = await rig.submit(i.TagSession(add=("second",)))

        assert (outcome.session.title, outcome.session.tags) == ("first", ("second",))
        assert outcome.session.run is not None  # we are its owner still: nothing was cut off
        assert await rig.replay() == outcome.session
