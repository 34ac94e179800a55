"""The trash is emptied after its time: whole, once, and nothing else goes with it."""

# spec: A10, P1, P4

import asyncio

import pytest

from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.engine.recovery import recover
from holdfast.engine.trash import DAY, HOUR, empty, keep_emptying
from holdfast.ports import StoreDown
from holdfast.testing.clock import FakeClock
from tests.engine.rig import OPEN, Rig, S, T, Wrapped, story, until

MONTH = 30 * DAY


async def gone(rig, id=S):
    return await rig.journal.row(id) is None


@story
async def test_what_is_in_the_trash_for_thirty_days_is_removed_and_nothing_else(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, i.TrashSession())
        await rig.submit(OPEN, id=T)
        await rig.clock.advance(MONTH - 1)

        assert await empty(rig.engine, kept=MONTH) == []

        await rig.clock.advance(1)

        assert await empty(rig.engine, kept=MONTH) == [S]
        await until(lambda: gone(rig))
        await until(lambda: not rig.outbox._workers)
        assert [r.session for r in await rig.journal.rows()] == [T]
        assert S not in rig.engine.sessions
        assert (folder / "discarded").read_text() == f"{S}/3/0\n"
        assert await rig.journal.purged(S) == [(S, rig.clock.now())]


@story
async def test_it_is_looked_through_at_once_and_then_every_hour(folder):
    clock = FakeClock()
    async with Rig(folder, clock=clock) as rig:
        await rig.submit(OPEN, i.TrashSession())
        await clock.advance(MONTH)
        await rig.submit(OPEN, i.TrashSession(), id=T)
        task = asyncio.create_task(keep_emptying(rig.engine, 30))
        await until(lambda: gone(rig))
        await until(lambda: clock._sleepers)
        await clock.advance(MONTH - HOUR)
        await until(lambda: clock._sleepers)

        assert not await gone(rig, T)

        await clock.advance(HOUR)
        await until(lambda: gone(rig, T))
        task.cancel()


@story
async def test_with_no_days_it_is_kept_for_ever(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, i.TrashSession())
        await rig.clock.advance(1000 * MONTH)
        await keep_emptying(rig.engine, 0)

        assert not await gone(rig)


class Dies(Wrapped):
    """Before or after the one write that removes it."""

    after = False

    async def purge(self, lease, *, at):
        if self.after:
            await self.inner.purge(lease, at=at)
        raise StoreDown("dead")


@pytest.mark.parametrize("after", [False, True])
def test_killed_in_the_middle_it_is_all_there_or_all_gone(after):
    @story
    async def tell(folder):
        clock = FakeClock()
        async with Rig(folder, clock=clock, wrap=Dies) as rig:
            rig.journal.after = after
            await rig.submit(OPEN, i.TrashSession(), i.PurgeSession())
            await until((folder / "discarded").exists)
            await until(lambda: clock._sleepers)

            assert await gone(rig) is after
            with pytest.raises(Refused, match="removed for good"):
                await rig.submit(i.RestoreSession())
        async with Rig(folder, owner="two", clock=clock) as rig:
            await clock.advance(60_000)
            await recover(rig.engine, rig.outbox)
            await until(lambda: gone(rig))
            await until(lambda: not rig.outbox._workers)

            assert await rig.journal.owed() == []

    tell()


@story
async def test_whoever_comes_while_it_is_removed_makes_no_other(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN, i.TrashSession())
        late = [i.PurgeSession(), *(i.RestoreSession() for _ in range(5))]
        found = await asyncio.gather(*(rig.submit(c) for c in late), return_exceptions=True)
        await until(lambda: gone(rig))

        assert [type(f) for f in found[1:]] == [Refused] * 5
        assert await rig.journal.rows() == []
