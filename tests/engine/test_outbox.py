"""What is owed is paid: in order, again after a failure, never forgotten, not when it is stale."""

# spec: P5, D1, G7

import asyncio

from holdfast.core import effects as f
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import DecisionId
from holdfast.core.session import Decision, StopReason
from holdfast.core.value import replace
from holdfast.engine.engine import LEASE
from holdfast.engine.outbox import FIRST_WAIT, LONGEST_WAIT
from holdfast.engine.recovery import recover
from holdfast.ports import StoreDown
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.script import Reply
from tests.engine.rig import DONE, OPEN, Rig, S, T, Wrapped, prompt, story, until

QUESTION = Decision(id=DecisionId("q"), kind="question", text="?")
ASKED = i.Heard(events=(e.DecisionAsked(decision=QUESTION),))  # somebody has to be told


class Stubborn(ScriptedAgents):
    """Fails to start as often as it is told to, and remembers what was asked of it, in order."""

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.failures, self.asked, self.errands = 0, [], []
        self.gate = asyncio.Event()
        self.gate.set()

    async def start(self, errand, session):
        self.asked.append(("start", session.id))
        self.errands.append(errand)
        if self.failures:
            self.failures -= 1
            raise OSError("cannot start")
        await self.gate.wait()
        await super().start(errand, session)

    async def deliver(self, errand, session):
        self.asked.append(("deliver", session.id))
        await super().deliver(errand, session)

    async def kill(self, errand, session):
        self.asked.append(("kill", session.id))
        self.errands.append(errand)
        await super().kill(errand, session)


@story
async def test_debts_of_a_session_are_paid_in_the_order_they_were_made(folder):
    async with Rig(folder, agents=Stubborn) as rig:
        await rig.submit(OPEN, prompt())
        await rig.quiet()

        assert rig.agents.asked == [("start", S), ("deliver", S)]
        assert await rig.journal.owed() == []


@story
async def test_what_failed_is_tried_again_under_the_same_name_and_waits_longer_each_time(folder):
    async with Rig(folder, agents=Stubborn) as rig:
        rig.agents.failures = 4
        await rig.submit(OPEN, prompt())
        waits = []
        for tries in range(1, 5):
            await until(lambda n=tries: len(rig.agents.errands) == n and rig.clock._sleepers)
            waits.append(rig.clock._sleepers[0][0] - rig.clock.now())
            await rig.clock.advance(waits[-1])
        session = await rig.quiet()

        assert waits == [FIRST_WAIT, FIRST_WAIT * 2, FIRST_WAIT * 4, FIRST_WAIT * 8]
        assert len({errand.id for errand in rig.agents.errands}) == 1
        assert session.last_stop is not None
        assert session.last_stop.reason is StopReason.COMPLETED


@story
async def test_no_debt_waits_longer_than_the_longest_wait(folder):
    async with Rig(folder, agents=Stubborn) as rig:
        rig.agents.failures = 12
        await rig.submit(OPEN, prompt())
        waits = []
        for tries in range(1, 13):
            await until(lambda n=tries: len(rig.agents.errands) == n and rig.clock._sleepers)
            waits.append(rig.clock._sleepers[0][0] - rig.clock.now())
            await rig.clock.advance(waits[-1])
        await rig.quiet()

        assert waits[-1] == LONGEST_WAIT


@story
async def test_a_debt_that_cannot_be_paid_holds_up_its_own_session_alone(folder):
    async with Rig(folder, agents=Stubborn) as rig:
        rig.agents.failures = 1
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.clock._sleepers)  # S waits, and time does not move
        await rig.submit(OPEN, prompt(), id=T)
        done = await rig.quiet(T)

        assert done.last_stop is not None
        assert done.last_stop.reason is StopReason.COMPLETED
        assert (await rig.session(S)).run is not None


@story
async def test_sessions_are_paid_side_by_side(folder):
    async with Rig(folder, agents=Stubborn) as rig:
        rig.agents.gate.clear()
        for id in (S, T):
            await rig.submit(OPEN, prompt(), id=id)
        await until(lambda: len(rig.agents.asked) == 2)  # both wait at the same gate

        assert sorted(rig.agents.asked) == [("start", S), ("start", T)]
        rig.agents.gate.set()
        await rig.quiet(S)
        await rig.quiet(T)


@story
async def test_a_stale_debt_is_settled_unperformed(folder):
    """The launch was called off while it could not be started: nobody starts it any more."""
    async with Rig(folder, agents=Stubborn) as rig:
        rig.agents.failures = 1
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.clock._sleepers)
        await rig.submit(i.CancelRun())
        await rig.clock.advance(FIRST_WAIT)
        session = await rig.quiet()

        assert rig.agents.asked == [("start", S), ("kill", S)]
        assert session.last_stop is not None
        assert session.last_stop.reason is StopReason.CANCELLED
        assert not session.agent_alive


@story
async def test_a_prompt_right_after_a_cancelled_start_is_not_killed_with_it(folder):
    async with Rig(folder, agents=Stubborn) as rig:
        rig.agents.failures = 1
        await rig.submit(OPEN, prompt("p1"))
        await until(lambda: rig.clock._sleepers)
        await rig.submit(i.CancelRun(), prompt("p2"))
        await rig.clock.advance(FIRST_WAIT)
        session = await rig.quiet()

        assert session.last_stop is not None
        assert session.last_stop.reason is StopReason.COMPLETED
        assert [o.effect.launch for o in rig.agents.errands] == [1, 1, 2]


@story
async def test_a_debt_that_arrives_while_the_last_one_is_paid_is_paid_too(folder):
    """Nobody is told twice: the worker that is about to go home must look once more."""
    async with Rig(folder, agents=Stubborn, script=DONE * 40) as rig:
        await rig.submit(OPEN)
        for n in range(40):
            await rig.submit(prompt(f"p{n}"))
        session = await rig.quiet()

        assert session.queue == ()
        assert await rig.count(e.RunStopped) == 40


@story
async def test_debts_of_a_dead_owner_are_paid_by_whoever_takes_the_session_over(folder):
    """Not only at a start: a command is enough."""
    async with Rig(folder, owner="two") as two:
        async with Rig(folder, clock=two.clock) as one:
            one.outbox.wake = one.engine.on_owed = lambda _id: None  # dies before it pays
            await one.submit(OPEN)
            await one.submit(prompt(), ASKED)
        await two.clock.advance(LEASE + 1)
        await two.submit(i.RenameSession(title="mine now"))
        await until((folder / "told").exists)
        await two.quiet()

        assert await two.journal.owed() == []


@story
async def test_an_engine_that_lost_a_session_leaves_its_debts_to_the_next_one(folder):
    """Reading a session for somebody to look at brings its debts into memory, not the duty to pay."""
    async with (
        Rig(folder, agents=Stubborn) as one,
        Rig(folder, owner="two", clock=one.clock) as two,
    ):
        one.agents.gate.clear()
        await one.submit(OPEN, prompt())
        await until(lambda: one.agents.asked)
        await two.session()
        two.outbox.wake(S)
        await two.outbox.idle()

        assert two.agents._tasks == {}
        assert len(await two.journal.owed()) == 1
        one.agents.gate.set()
        await one.quiet()


class ForgetsToSettle(Wrapped):
    """The store fails right after the errand was performed: it is performed again."""

    failures = 0

    async def settle(self, errand):
        if self.failures:
            self.failures -= 1
            raise StoreDown("no disk")
        await self.inner.settle(errand)


@story
async def test_an_errand_that_could_not_be_settled_is_not_forgotten(folder):
    async with Rig(folder, wrap=ForgetsToSettle, agents=Stubborn) as rig:
        rig.journal.failures = 1
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.clock._sleepers)
        await rig.clock.advance(FIRST_WAIT)
        session = await rig.quiet()

        assert await rig.journal.owed() == []
        assert session.last_stop is not None
        assert session.last_stop.reason is StopReason.COMPLETED


class CannotBeRead(Wrapped):
    failures = 0

    async def snapshot(self, session):
        if self.failures:
            self.failures -= 1
            raise StoreDown("no disk")
        return await self.inner.snapshot(session)


@story
async def test_a_worker_whose_session_cannot_be_read_tries_again(folder):
    async with Rig(folder) as one:
        one.outbox.wake = one.engine.on_owed = lambda _id: None
        await one.submit(OPEN, prompt(), ASKED)
    async with Rig(folder, owner="two", wrap=CannotBeRead) as two:
        await two.clock.advance(LEASE + 1)
        await recover(two.engine, two.outbox)
        await until((folder / "told").exists)
        await two.quiet()

        assert await two.journal.owed() == []


@story
async def test_the_kill_of_an_earlier_launch_leaves_the_present_one_alone(folder):
    async with Rig(folder, agents=Stubborn, script=(Reply(text="a"), Reply(text="b"))) as rig:
        await rig.submit(OPEN, prompt("p1"))
        session = await rig.quiet()
        await rig.submit(prompt("p2"))
        await until(lambda: ("deliver", S) in rig.agents.asked[2:])
        first = rig.agents.errands[0]
        stale = replace(first, effect=f.KillAgent(launch=session.launch.number))
        await rig.agents.kill(stale, await rig.session())
        after = await rig.quiet()

        assert after.last_stop is not None
        assert after.last_stop.reason is StopReason.COMPLETED
