"""Watchers are woken when there is news, and read from their cursor: no gap, no duplicate."""

# spec: P1, J2

import asyncio

from holdfast.agent import Agent
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import Seq
from holdfast.engine.feed import Feed
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.script import Reply, ScriptedCall
from tests.engine.rig import OPEN, Late, Rig, S, T, prompt, story, until

BUSY = (
    Reply(text="word " * 50, pieces=25, calls=(ScriptedCall(), ScriptedCall())),
    Reply(text="more " * 50, pieces=25, calls=(ScriptedCall(),)),
    Reply(text="Done."),
)


async def watch(rig, seen, *, slow=False):
    """What a page does: read what is new, wait for more."""
    cursor = Seq(0)
    while True:
        for recorded in await rig.engine.read(S, after=cursor, limit=3 if slow else None):
            seen.append(recorded)
            cursor = recorded.seq
        await rig.engine.feed.wait(S, cursor)


@story
async def test_every_watcher_sees_everything_once_and_in_order_while_a_run_works(folder):
    async with Rig(folder, script=BUSY) as rig:
        await rig.submit(OPEN)
        fast, slow = [], []
        watchers = [
            asyncio.create_task(watch(rig, fast)),
            asyncio.create_task(watch(rig, slow, slow=True)),
        ]
        await rig.submit(prompt())
        session = await rig.quiet()
        await until(lambda: len(fast) == len(slow) == session.seq)
        for watcher in watchers:
            watcher.cancel()
        everything = await rig.journal.read(S)

        assert everything == fast
        assert everything == slow
        assert list(range(1, session.seq + 1)) == [r.seq for r in fast]


@story
async def test_a_watcher_sleeps_until_there_is_news_of_its_own_session(folder):
    async with Rig(folder) as rig:
        head = (await rig.submit(OPEN)).session.seq
        waiting = asyncio.create_task(rig.engine.feed.wait(S, head))
        await rig.submit(OPEN, id=T)  # another session's news
        await rig.submit(i.MarkSeen())  # nothing that is written down
        await asyncio.sleep(0)

        assert not waiting.done()

        await rig.submit(i.RenameSession(title="x"))

        assert await waiting == head + 1


@story
async def test_news_from_between_the_reading_and_the_waiting_is_not_slept_over(folder):
    async with Rig(folder) as rig:
        await rig.submit(OPEN)
        seen = await rig.journal.read(S)
        await rig.submit(i.RenameSession(title="x"))

        assert await asyncio.wait_for(rig.engine.feed.wait(S, seen[-1].seq), 60) == 2


@story
async def test_nobody_is_woken_by_what_was_not_written(folder):
    """A report that is no news, a command that is refused: heads do not move."""
    async with Rig(folder) as rig:
        await rig.submit(OPEN)
        head = rig.engine.feed._heads[S]
        late = e.TextSaved(round=1, text="late")
        await rig.submit(i.Heard(launch=7, events=(late,)), i.MarkSeen())

        assert rig.engine.feed._heads[S] == head == (await rig.session()).seq


def test_many_watchers_of_one_session_are_all_woken():
    async def tell():
        feed = Feed()
        waiting = [asyncio.create_task(feed.wait(S, Seq(0))) for _ in range(50)]
        await asyncio.sleep(0)
        feed.publish(S, Seq(1))

        assert await asyncio.gather(*waiting) == [1] * 50
        assert feed._changed == {}

    asyncio.run(tell())


# --- the journal knows before we do ---------------------------------------------------------------


@story
async def test_what_is_written_is_not_read_before_its_writer_knows(folder):
    async with Rig(folder, wrap=Late) as rig:
        await rig.submit(OPEN)
        rig.journal.withhold(e.SessionRenamed)
        renaming = asyncio.create_task(rig.submit(i.RenameSession(title="x")))
        await rig.journal.written.wait()

        assert [1, 2] == [r.seq for r in await rig.journal.read(S)]
        assert [1] == [r.seq for r in await rig.engine.read(S)]

        rig.journal.told.set()
        await renaming

        assert [1, 2] == [r.seq for r in await rig.engine.read(S)]


@story
async def test_who_follows_in_that_moment_hears_of_the_end(folder):
    async with Rig(folder, wrap=Late) as rig:
        await rig.submit(OPEN)
        rig.journal.withhold(e.RunStopped)
        await rig.submit(prompt())
        await rig.journal.written.wait()
        following = asyncio.create_task(_all(Agent()._follow(rig, S, Seq(0))))
        await until(lambda: S in rig.engine.feed._waiting)
        rig.journal.told.set()

        *events, result = await following
        assert ("completed", "Done.") == (result.stop.reason, result.text)
        assert await rig.events() == events


async def _all(items):
    return [item async for item in items]


class Silent(ScriptedAgents):
    """Comes up and says nothing: the test speaks for it."""

    async def deliver(self, errand, session):
        return


@story
async def test_streamed_text_is_shown_only_when_a_power_cut_could_not_take_it_back(folder):
    async with Rig(folder, agents=Silent) as rig:
        await rig.submit(OPEN, prompt())
        await until(lambda: rig.engine.sessions[S].session.run.delivered)
        await rig.outbox.idle()
        round_started = e.RoundStarted(round=1)
        await rig.submit(i.Heard(launch=1, events=(round_started,)))
        shown = rig.engine.feed.head(S)

        await rig.submit(i.Heard(launch=1, events=(e.TextSaved(round=1, text="half a wo"),)))
        assert shown == rig.engine.feed.head(S)

        await rig.submit(i.Heard(launch=1, events=(e.Notice(kind="n", text="x"),)))
        assert shown + 2 == rig.engine.feed.head(S)
