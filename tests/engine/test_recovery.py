"""After a death: what was going on is said to be cut off, once, without reading its history."""

# spec: A4, D1, G2, G3, P5, M1

import sqlite3

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.effects import KillAgent
from holdfast.core.session import Evidence, State, StopReason
from holdfast.engine.engine import LEASE, SNAPSHOT_EVERY
from holdfast.engine.recovery import recover, renew_once
from holdfast.journal.owner import this_owner
from holdfast.ports import Damaged, Held
from holdfast.testing.clock import FakeClock
from tests.engine.rig import ASKS, OPEN, Rig, S, T, Wrapped, prompt, story, until

CORPSE = this_owner().rsplit(":", 3)[0] + ":999999999:1:dead"  # a process of this boot, long gone


async def leave_running(folder, *, owner=CORPSE, clock, ids=(S,), cancel=False):
    """An engine that is gone in the middle of a run: its agent died with it."""
    async with Rig(folder, script=ASKS, owner=owner, clock=clock) as rig:
        for id in ids:
            await rig.submit(OPEN, prompt(), id=id)
            await until(lambda one=id: rig.engine.sessions[one].session.decisions)
        if cancel:
            rig.outbox.wake = rig.engine.on_owed = lambda _id: None
            await rig.submit(i.CancelRun())


@story
async def test_a_run_whose_owner_died_is_interrupted_and_says_on_what_evidence(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock)
    async with Rig(folder, owner="two", clock=clock) as rig:
        found = await recover(rig.engine, rig.outbox)
        session = await rig.quiet()

        assert found.recovered == [S]
        assert session.state is State.WAITING_FOR_INPUT
        assert session.stop is not None
        assert session.stop.reason is StopReason.INTERRUPTED
        assert session.stop.evidence == Evidence(liveness="dead")
        assert [d.id for d in session.decisions] == ["d-c0.0"]  # the question is still there
        assert await rig.replay() == session


@story
async def test_recovering_twice_writes_nothing_twice(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock)
    for owner in ("two", "three"):
        async with Rig(folder, owner=owner, clock=clock) as rig:
            await recover(rig.engine, rig.outbox)
            await rig.quiet()
            stops = await rig.count(e.RunStopped)

            assert stops == 1


@story
async def test_nothing_is_relaunched_by_itself(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock)
    async with Rig(folder, owner="two", clock=clock) as rig:
        await recover(rig.engine, rig.outbox)
        await rig.quiet()

        assert await rig.count(e.LaunchRequested) == 1
        assert rig.agents._tasks == {}


@story
async def test_a_cancel_that_was_accepted_before_the_death_stays_a_cancel(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock, cancel=True)
    async with Rig(folder, owner="two", clock=clock) as rig:
        await recover(rig.engine, rig.outbox)
        session = await rig.quiet()

        assert session.stop is not None
        assert session.stop.reason is StopReason.CANCELLED
        assert session.open_calls == ()


@story
async def test_a_living_owner_is_left_alone(folder):
    clock = FakeClock()
    async with Rig(folder, script=ASKS, owner=this_owner(), clock=clock) as one:
        await one.submit(OPEN, prompt())
        await until(lambda: one.engine.sessions[S].session.decisions)
        before = await one.session()
        async with Rig(folder, owner="two", clock=clock) as two:
            found = await recover(two.engine, two.outbox)

            assert found == ([], [S], [])
            assert await one.replay() == before


@story
async def test_a_dead_owner_is_not_waited_for(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock)
    async with Rig(folder, owner="two", clock=clock) as rig:
        row = await rig.journal.row(S)

        assert row is not None
        assert row.lease_until > clock.now()  # its lease still runs
        assert (await recover(rig.engine, rig.outbox)).recovered == [S]


@story
async def test_an_owner_nobody_knows_is_waited_for_until_its_lease_has_run_out(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock, owner="elsewhere")
    async with Rig(folder, owner="two", clock=clock) as rig:
        early = await recover(rig.engine, rig.outbox)
        await clock.advance(LEASE + 1)
        late = await recover(rig.engine, rig.outbox)

        assert (early.recovered, early.held) == ([], [S])
        assert (late.recovered, late.held) == ([S], [])


@story
async def test_an_agent_that_lives_on_is_not_interrupted(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock)
    async with Rig(folder, owner="two", clock=clock) as rig:
        rig.agents.alive = _yes
        await recover(rig.engine, rig.outbox)
        session = await rig.session()
        with pytest.raises(Held):  # it is looked after: nobody else may write
            await rig.journal.claim(S, "three", now=clock.now(), ttl=LEASE)

        assert session.state is State.RUNNING
        assert session.run is not None


async def _yes(_session):
    return True


@story
async def test_an_agent_of_which_nobody_can_tell_is_killed_before_the_next_one_starts(folder):
    clock, killed = FakeClock(), []

    async def nobody_knows(_session):
        return None

    async def kill(errand, _session):
        killed.append(errand.effect.launch)

    await leave_running(folder, clock=clock)
    async with Rig(folder, owner="two", clock=clock) as rig:
        rig.agents.alive = nobody_knows
        rig.outbox._perform[KillAgent] = kill
        await recover(rig.engine, rig.outbox)
        session = await rig.quiet()

        assert killed == [1]
        assert session.stop is not None
        assert session.stop.evidence == Evidence(liveness="unknown")


class Counting(Wrapped):
    def __init__(self, journal):
        super().__init__(journal)
        self.read_events, self.reads = 0, []

    async def read(self, session, *, after=0, limit=None):
        found = await self.inner.read(session, after=after, limit=limit)
        self.reads.append(after)
        self.read_events += len(found)
        return found

    async def events(self, session, *, after=0):
        found = await self.inner.events(session, after=after)
        self.reads.append(after)
        self.read_events += len(found)
        return found


@story
async def test_histories_are_not_read_however_long(folder):
    clock = FakeClock()
    async with Rig(folder, script=ASKS, owner=CORPSE, clock=clock) as rig:
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.engine.sessions[S].session.decisions)
        for n in range(2 * SNAPSHOT_EVERY):
            await rig.submit(i.Heard(launch=1, events=(e.Notice(kind="x", text=str(n)),)))
        head = (await rig.session()).seq
    async with Rig(folder, owner="two", clock=clock, wrap=Counting) as rig:
        await recover(rig.engine, rig.outbox)

        assert rig.journal.reads
        assert 0 not in rig.journal.reads
        assert rig.journal.read_events < SNAPSHOT_EVERY < head
        assert await rig.replay() == await rig.session()


@story
async def test_sessions_at_rest_are_not_even_looked_at(folder):
    clock = FakeClock()
    async with Rig(folder, clock=clock) as rig:
        for n in range(20):
            await rig.submit(OPEN, prompt(), id=f"{n:012x}")
            await rig.quiet(f"{n:012x}")
    async with Rig(folder, owner="two", clock=clock, wrap=Counting) as rig:
        found = await recover(rig.engine, rig.outbox)

        assert found == ([], [], [])
        assert rig.journal.reads == []


@story
async def test_a_damaged_session_is_put_aside_and_the_others_are_recovered(folder):
    clock = FakeClock()
    await leave_running(folder, clock=clock, ids=(S, T))
    with sqlite3.connect(folder / "journal.db") as db:
        db.execute("update event set body = x'7b' where key & 4294967295 = 2 and key >> 32 = 1")
    db.close()
    async with Rig(folder, owner="two", clock=clock) as rig:
        found = await recover(rig.engine, rig.outbox)
        row = await rig.journal.row(S)
        with pytest.raises(Damaged, match="quarantined"):
            await rig.submit(i.RenameSession(title="x"))

        assert (found.recovered, found.quarantined) == ([T], [S])
        assert row is not None
        assert "event 2" in row.quarantined
        assert (await rig.quiet(T)).stop is not None


@story
async def test_renewals_keep_a_lease(folder):
    async with Rig(folder, script=ASKS) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, prompt())
        await until(lambda: one.engine.sessions[S].session.decisions)
        for _ in range(6):
            await one.clock.advance(LEASE // 3)
            await renew_once(one.engine)
        with pytest.raises(Held):
            await two.submit(i.RenameSession(title="mine"))

        assert (await one.session()).run is not None


@story
async def test_a_lease_that_was_lost_drops_the_session_from_memory(folder):
    async with Rig(folder, script=ASKS) as one, Rig(folder, owner="two", clock=one.clock) as two:
        await one.submit(OPEN, prompt())
        await until(lambda: one.engine.sessions[S].session.decisions)
        await one.clock.advance(LEASE + 1)
        await two.submit(i.RenameSession(title="two's"))
        await renew_once(one.engine)

        assert S not in one.engine.sessions
        assert (await one.session()).title == "two's"


class SlowRenewal(Wrapped):
    """While the renewal is on its way, the session is given back and taken again."""

    meanwhile = None

    async def renew(self, owner, leases, *, now, ttl):
        if self.meanwhile is not None:
            await self.meanwhile()
        return await self.inner.renew(owner, leases, now=now, ttl=ttl)


@story
async def test_a_lease_taken_anew_during_a_renewal_is_not_mistaken_for_a_lost_one(folder):
    async with Rig(folder, script=ASKS * 2, wrap=SlowRenewal) as rig:
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.engine.sessions[S].session.decisions)

        async def again():
            await rig.submit(i.CancelRun())
            await until(lambda: rig.engine.sessions[S].lease is None)
            await rig.submit(prompt("p2"))

        rig.journal.meanwhile = again
        live = rig.engine.sessions[S]
        await renew_once(rig.engine)

        assert rig.engine.sessions[S] is live
        assert live.lease is not None
