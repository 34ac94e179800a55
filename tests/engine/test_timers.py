"""A timer fires once: on time, or at once after a restart that came too late."""

# spec: G2, P5

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import Millis, TimerId
from holdfast.core.session import StopReason, Timer
from holdfast.engine.outbox import FIRST_WAIT
from holdfast.engine.recovery import recover
from holdfast.ports import StoreDown
from holdfast.testing.clock import FakeClock
from holdfast.testing.script import Reply
from tests.engine.rig import ASKS, DONE, OPEN, Rig, S, T, Wrapped, prompt, story, until


def timer(rig, after, *, id="t", what="look"):
    due = Millis(rig.clock.now() + after)
    return i.SetTimer(timer=Timer(id=TimerId(id), due=due, what=what))


async def fired(rig, id=S):
    return [event.timer for event in await rig.events(id) if isinstance(event, e.TimerFired)]


@story
async def test_a_timer_fires_once_and_not_before_its_time(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, timer(rig, 1_000))
        await until(lambda: rig.clock._sleepers)
        await rig.clock.advance(999)

        assert await fired(rig) == []

        await rig.clock.advance(1)
        await until(lambda: _owes(rig, 0))
        await rig.clock.advance(100_000)

        assert await fired(rig) == ["t"]


async def _count(rig, n, id=S):
    return len(await fired(rig, id)) >= n


@story
async def test_a_session_that_only_waits_for_its_timer_belongs_to_nobody(folder):
    async with Rig(folder) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, timer(one, 1_000))
        await until(lambda: one.clock._sleepers)
        await two.submit(i.RenameSession(title="mine"))

        assert (await two.session()).title == "mine"


@story
async def test_a_session_with_a_timer_is_given_back_also_after_somebody_else_wrote(folder):
    """Debts that are read again with the session must not keep the lease for ever."""
    async with Rig(folder) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, timer(one, 1_000))
        await until(lambda: not one.outbox._workers)  # whoever still pays still holds the lease
        await two.submit(i.RenameSession(title="two's"))
        await until(lambda: not two.outbox._workers)
        await one.submit(i.RenameSession(title="one's"))
        await until(lambda: not one.outbox._workers)

        assert one.engine.sessions[S].lease is None


@story
async def test_looking_for_orphans_leaves_a_session_that_only_waits_alone(folder):
    """A look every five seconds must not cost two writes per timer."""
    async with Rig(folder) as rig:
        await rig.submit(OPEN, timer(rig, 1_000))
        await until(lambda: not rig.outbox._workers)
        before = (await rig.journal.row(S)).generation
        for _ in range(3):
            await recover(rig.engine, rig.outbox)
            await until(lambda: not rig.outbox._workers)

        assert (await rig.journal.row(S)).generation == before
    async with Rig(folder, owner="two", clock=rig.clock) as rig:
        await recover(rig.engine, rig.outbox)
        await recover(rig.engine, rig.outbox)

        assert (await rig.journal.row(S)).generation == before

        await until(lambda: rig.clock._sleepers)
        await rig.clock.advance(1_000)
        await until(lambda: _owes(rig, 0))

        assert await fired(rig) == ["t"]


@story
async def test_a_timer_that_is_set_again_fires_at_the_later_time_alone(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, timer(rig, 1_000), timer(rig, 5_000))
        await until(lambda: not rig.outbox._workers)
        await rig.clock.advance(1_000)
        await until(lambda: _owes(rig, 1))  # the first debt is settled, unperformed

        assert await fired(rig) == []

        await rig.clock.advance(4_000)
        await until(lambda: _owes(rig, 0))

        assert await fired(rig) == ["t"]


async def _owes(rig, n):
    return len(await rig.journal.owed()) == n


@story
async def test_a_cancelled_timer_does_not_fire(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, timer(rig, 1_000), i.CancelTimer(timer=TimerId("t")))
        await until(lambda: not rig.outbox._workers)
        await rig.clock.advance(1_000)
        await until(lambda: _owes(rig, 0))

        assert await fired(rig) == []


@story
async def test_what_fell_due_while_nobody_was_there_fires_once_one_after_another(folder):
    clock = FakeClock()
    async with Rig(folder, clock=clock) as rig:
        for n in range(8):
            await rig.submit(OPEN, timer(rig, 1_000 + n, id=f"t{n}"), id=_id(n))
        await until(lambda: not rig.outbox._workers)
    await clock.advance(60_000)
    order = []
    async with Rig(folder, owner="two", clock=clock) as rig:
        rig.outbox._perform = _noting(rig.outbox._perform, order)
        await recover(rig.engine, rig.outbox)
        await until(lambda: _owes(rig, 0))

        assert [await fired(rig, _id(n)) for n in range(8)] == [[f"t{n}"] for n in range(8)]
        assert order == [step for n in range(8) for step in (f"begin t{n}", f"end t{n}")]


def _id(n):
    return f"{n:012x}"


def _noting(performers, order):
    def around(perform):
        async def noted(errand, session):
            order.append(f"begin {errand.effect.timer}")
            await perform(errand, session)
            order.append(f"end {errand.effect.timer}")

        return noted

    return {kind: around(perform) for kind, perform in performers.items()}


@story
async def test_a_timer_fires_once_even_if_the_engine_dies_before_it_is_settled(folder):
    clock = FakeClock()

    class NeverSettles(Wrapped):
        async def settle(self, errand):
            raise StoreDown("dead")

    async with Rig(folder, clock=clock, wrap=NeverSettles) as rig:
        await rig.submit(OPEN, timer(rig, 10))
        await until(lambda: clock._sleepers)
        await clock.advance(10)
        await until(lambda: _count(rig, 1))
    await clock.advance(FIRST_WAIT)
    async with Rig(folder, owner="two", clock=clock) as rig:
        await recover(rig.engine, rig.outbox)
        await until(lambda: _owes(rig, 0))

        assert await fired(rig) == ["t"]


@story
async def test_a_timer_of_a_session_that_another_engine_drives_holds_up_no_other(folder):
    async with Rig(folder) as one, Rig(folder, owner="two", script=ASKS, clock=one.clock) as two:
        await one.submit(OPEN, timer(one, 1_000))
        await one.submit(OPEN, timer(one, 1_001, id="u"), id=T)
        await until(lambda: not one.outbox._workers)
        await two.submit(prompt())
        await until(lambda: two.engine.sessions[S].session.decisions)
        await one.clock.advance(1_001)  # no more: a wait that must pass would not
        await until(lambda: _count(one, 1, T))

        assert await fired(one, T) == ["u"]


class FailsToRead(Wrapped):
    failing = False

    async def snapshot(self, session):
        if self.failing:
            raise StoreDown("no disk")
        return await self.inner.snapshot(session)


@story
async def test_the_clockwork_survives_a_store_that_fails_for_a_while(folder):
    async with Rig(folder, wrap=FailsToRead) as rig:
        await rig.submit(OPEN, timer(rig, 1_000))
        await until(lambda: rig.clock._sleepers)
        rig.engine.sessions.clear()  # it must be read from the store again
        rig.journal.failing = True
        await rig.clock.advance(1_000)
        await until(lambda: rig.clock._sleepers)
        rig.journal.failing = False
        await rig.clock.advance(FIRST_WAIT)
        await until(lambda: _count(rig, 1))

        assert await fired(rig) == ["t"]


@story
async def test_a_timer_continues_a_run_that_stopped_at_a_limit(folder):
    script = (Reply(text="a", stop=StopReason.RATE_LIMITED), *DONE)
    async with Rig(folder, script=script) as rig:
        await rig.submit(OPEN, prompt())
        await rig.quiet()
        await rig.submit(timer(rig, 1_000, what="continue"))
        await until(lambda: rig.clock._sleepers)
        await rig.clock.advance(1_000)
        await until(lambda: _stops(rig, 2))

        assert (await rig.session()).runs == 2


async def _stops(rig, n):
    return await rig.count(e.RunStopped) == n


@story
async def test_a_timer_never_continues_what_the_user_stopped_or_what_never_ran(folder):
    async with Rig(folder, script=ASKS) as rig:
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.engine.sessions[S].session.decisions)
        await rig.submit(i.CancelRun())
        await rig.quiet()
        await rig.submit(OPEN, id=T)
        for id in (S, T):
            await rig.submit(timer(rig, 1_000, what="continue"), id=id)
        await until(lambda: not rig.outbox._workers)
        await rig.clock.advance(1_000)
        await until(lambda: _owes(rig, 0))

        assert (await rig.kinds())[-2:] == ["TimerFired", "Notice"]
        assert (await rig.kinds(T))[-2:] == ["TimerFired", "Notice"]
