"""A store that is full or gone, outputs that are too large, texts that no JSON can hold."""

# spec: M2, M1, C4, P1, P2

import hashlib
import sqlite3

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.conversation import build
from holdfast.core.ids import InputId
from holdfast.core.messages import ResultsMessage
from holdfast.core.session import Evidence, StopReason
from holdfast.engine.engine import LEASE
from holdfast.engine.intake import LARGE, scrub
from holdfast.engine.recovery import recover
from holdfast.ports import JournalError, StoreDown, StoreFull
from holdfast.testing.script import Reply, ScriptedCall
from tests.engine.rig import ASKS, DONE, OPEN, Rig, S, Wrapped, prompt, story, until


class Broken(Wrapped):
    """Fails every write while `why` says so. `late`: the write is done, and then it fails."""

    why: JournalError | None = None
    late = False

    async def append(self, batch):
        if self.why is not None and not self.late:
            raise self.why
        await self.inner.append(batch)
        if self.why is not None:
            raise self.why

    async def claim(self, *args, **settings):
        if self.why is not None and not self.late:
            raise self.why
        return await self.inner.claim(*args, **settings)


@pytest.mark.parametrize("trouble", [StoreFull("no room"), StoreDown("no disk")])
def test_a_command_is_refused_and_nothing_is_half_written(trouble):
    @story
    async def tell(folder):
        async with Rig(folder, wrap=Broken) as rig:
            await rig.submit(OPEN)
            before = await rig.session()
            rig.journal.why = trouble
            with pytest.raises(type(trouble)):
                await rig.submit(prompt())

            assert await rig.events() == [e.SessionOpened(**_opened())]
            assert await rig.journal.owed() == []
            assert await rig.replay() == before

            rig.journal.why = None
            await rig.submit(prompt())
            session = await rig.quiet()

            assert session.last_stop is not None
            assert session.last_stop.reason is StopReason.COMPLETED

    tell()


def _opened():
    return {"agent": OPEN.agent, "workspace": OPEN.workspace}


@pytest.mark.parametrize("trouble", [StoreFull("no room"), StoreDown("no disk")])
def test_a_run_that_lost_its_store_is_interrupted_when_the_store_is_back(trouble):
    @story
    async def tell(folder):
        async with Rig(folder, script=ASKS, wrap=Broken) as rig:
            await rig.submit(OPEN, prompt())
            await until(lambda: rig.engine.sessions[S].session.decisions)
            rig.journal.why = trouble
            for asked in rig.agents._answers.values():
                asked.set()  # the agent goes on, and its intent cannot be written down
            await until(lambda: rig.mender._tasks)
            for _ in range(3):
                await rig.clock.advance(1_000)
            rig.journal.why = None
            await rig.clock.advance(1_000)
            session = await rig.quiet()

            assert rig.world.done() == {}
            assert session.stop is not None
            assert session.stop.reason is StopReason.INTERRUPTED
            assert session.stop.evidence == Evidence(liveness="dead")
            assert await rig.replay() == session
            await until(lambda: not rig.mender._tasks)

    tell()


@story
async def test_a_write_that_failed_after_it_was_done_is_found_and_not_repeated(folder):
    """The disk said no after the commit: whether it is there must be looked up, not guessed."""
    async with Rig(folder, wrap=Broken) as rig:
        await rig.submit(OPEN)
        rig.journal.why, rig.journal.late = StoreDown("no answer"), True
        with pytest.raises(StoreDown):
            await rig.submit(prompt("p1"))
        rig.journal.why = None
        again = await rig.submit(prompt("p1"))
        session = await rig.quiet()

        assert again.doubled == "input:p1"
        assert await rig.count(e.InputAccepted) == 1
        assert await rig.replay() == session


@story
async def test_a_recovery_that_finds_no_store_is_taken_up_again(folder):
    async with Rig(folder, script=ASKS) as one:
        await one.submit(OPEN, prompt())
        await until(lambda: one.engine.sessions[S].session.decisions)
    async with Rig(folder, owner="two", wrap=Broken) as two:
        await two.clock.advance(LEASE + 1)
        two.journal.why = StoreFull("no room")
        with pytest.raises(StoreFull):
            await recover(two.engine, two.outbox)
        two.journal.why = None
        await recover(two.engine, two.outbox)

        assert (await two.session()).stop is not None


# --- large outputs ----------------------------------------------------------------------------------


def large(size):
    output = "begin " + "x" * (size - 10) + " end"
    return (Reply(text="Look.", calls=(ScriptedCall(output=output),)), *DONE), output


@story
async def test_an_output_of_40_mb_leaves_a_small_row_and_the_whole_beside_it(folder):
    script, output = large(40_000_000)
    async with Rig(folder, script=script) as rig:
        await rig.submit(OPEN, prompt())
        session = await rig.quiet()
        events = await rig.events()
        finished = next(x for x in events if isinstance(x, e.CallFinished))
        told = [m for m in build(events).to_send() if isinstance(m, ResultsMessage)]
        with sqlite3.connect(folder / "journal.db") as db:
            (widest,) = db.execute("select max(length(body)) from event").fetchone()
        db.close()

        assert finished.blob == hashlib.sha256(output.encode()).hexdigest()
        assert finished.size == len(output)
        assert await rig.journal.blob(finished.blob) == output.encode()
        assert widest < 2 * LARGE
        assert finished.output.startswith("begin ")
        assert finished.output.endswith(" end")
        assert told[0].results[0].output == finished.output
        assert await rig.replay() == session


@story
async def test_an_output_that_fits_stays_in_its_row(folder):
    script, output = large(LARGE)
    async with Rig(folder, script=script) as rig:
        await rig.submit(OPEN, prompt())
        await rig.quiet()
        finished = next(x for x in await rig.events() if isinstance(x, e.CallFinished))

        assert (finished.output, finished.blob) == (output, None)


# --- texts that no JSON can hold ----------------------------------------------------------------------


@story
async def test_a_lone_surrogate_is_scrubbed_and_the_live_session_equals_its_replay(folder):
    async with Rig(folder, script=ASKS) as rig:
        await rig.submit(OPEN)
        sent = await rig.submit(i.SendPrompt(input=InputId("p"), text="a\ud800b"))
        session = await rig.quiet_or_asking()

        assert "\ud800" not in str(sent.events)
        assert sent.session.run is not None
        assert sent.session.run.text == "a\ufffd\ufffd\ufffdb"
        assert await rig.replay() == session


@story
async def test_a_lone_surrogate_in_a_large_output_is_scrubbed_too(folder):
    output = "\udcff" + "x" * LARGE
    script = (Reply(text="\ud800", calls=(ScriptedCall(output=output),)), *DONE)
    async with Rig(folder, script=script) as rig:
        await rig.submit(OPEN, prompt())
        session = await rig.quiet_or_asking()

        assert await rig.replay() == session
        assert session.last_stop is None or session.last_stop.reason is StopReason.COMPLETED


def test_scrubbing_leaves_what_is_whole_as_it_is():
    given = i.Heard(events=(e.Notice(kind="x", text="grün \U0001f331"),))

    assert scrub(given) == given
