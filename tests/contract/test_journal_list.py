"""The list of sessions: a projection that is read without any history."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core import events
from holdfast.core.evolve import rebuild
from holdfast.ports import Row
from holdfast.views.sessions import Summary, summary
from tests.contract.samples import sample
from tests.contract.stores import TTL, new_id, writer

EVENT = events.SessionRenamed(title="a")


async def test_the_list_shows_what_was_last_said_of_a_session(store):  # spec: A1
    async with store.open() as journal:
        alice = await writer(journal, now=7)
        seen = sample(Summary)
        await alice.append(EVENT, at=8, summary=seen)
        await alice.append(EVENT, at=9)  # says nothing: as before, its place too
        expected = Row(
            session=alice.session,
            head=2,
            generation=1,
            owner="alice",
            lease_until=7 + TTL,
            summary=seen,
            created_at=7,
            updated_at=8,
        )
        assert await journal.row(alice.session) == expected
        assert await journal.rows() == [expected]


async def test_the_newest_comes_first(store):  # spec: A1
    async with store.open() as journal:
        writers = [await writer(journal) for _ in range(5)]
        for n, at in enumerate((30, 10, 50, 20, 50)):
            await writers[n].append(EVENT, at=at, summary=Summary())
        tied = sorted((writers[2].session, writers[4].session), reverse=True)
        expected = [*tied, writers[0].session, writers[3].session, writers[1].session]
        assert expected == [row.session for row in await journal.rows()]
        assert expected[:2] == [row.session for row in await journal.rows(limit=2)]


async def test_a_session_that_is_given_back_is_the_newest(store):
    async with store.open() as journal:
        first, second = await writer(journal, now=1), await writer(journal, now=2)
        await first.append(EVENT, at=3, release=True)
        assert [row.session for row in await journal.rows()] == [first.session, second.session]


async def pages(journal, limit, between):
    """Every page, with something happening after each."""
    before, found = None, []
    while page := await journal.rows(limit=limit, before=before):
        found += page
        before = (page[-1].updated_at, page[-1].session)
        await between(found)
    return [row.session for row in found]


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    limit=st.integers(1, 5), touched=st.lists(st.integers(0, 11), max_size=12), equal=st.booleans()
)
def test_pages_neither_skip_nor_repeat_while_sessions_change(store, limit, touched, equal):
    """One that changed moves to the front: it may have been shown or not, but never twice."""

    async def story():
        async with store.open() as journal:
            store.clear()  # of an earlier example
            writers = [await writer(journal, now=1) for _ in range(12)]
            for n, w in enumerate(writers):
                await w.append(EVENT, at=10 if equal else 10 + n, summary=Summary())
            waiting, changed = list(touched), set()

            async def between(_found):
                if waiting:
                    w = writers[waiting.pop()]
                    await w.append(EVENT, at=1000 + len(waiting), summary=Summary())
                    changed.add(w.session)

            seen = await pages(journal, limit, between)
            assert len(seen) == len(set(seen))
            assert {w.session for w in writers} - set(seen) <= changed

    asyncio.run(story())


async def test_the_live_ones_are_found_and_no_others(store):  # spec: D1 G2
    async with store.open() as journal:
        running, up, both, idle, quiet, broken = [await writer(journal) for _ in range(6)]
        await running.append(EVENT, summary=Summary(run=1))
        await up.append(EVENT, summary=Summary(launch=1))
        await both.append(EVENT, summary=Summary(run=1, launch=1))
        await idle.append(EVENT, summary=Summary(title="idle"))
        await quiet.append(EVENT)
        await broken.append(EVENT, summary=Summary(run=1))
        await journal.quarantine(broken.session, "damaged")
        await both.append(EVENT, summary=Summary())  # it stopped
        await up.append(EVENT)  # as before
        assert [running.session, up.session] == [row.session for row in await journal.live()]
    async with store.open() as journal:
        assert [running.session, up.session] == [row.session for row in await journal.live()]


async def test_the_list_can_be_made_anew_from_the_events(store):  # spec: P1
    async with store.open() as journal:
        happened = [
            events.SessionOpened(agent="builtin", title="first"),
            events.RunStarted(run=1, cause="prompt", limits=sample(events.RunStarted).limits),
            events.SessionRenamed(title="second"),
        ]
        alice, idle = await writer(journal), await writer(journal)
        await alice.append(*happened, summary=summary(rebuild(alice.session, happened)))
        await idle.append(happened[0], summary=summary(rebuild(idle.session, happened[:1])))
        before, live = await journal.rows(), await journal.live()
        assert [row.session for row in live] == [alice.session]
        for session in (alice.session, idle.session):
            store.spoil_row(session, summary=b"{}", live=session == idle.session)
        assert before != await journal.rows()
        assert await journal.rebuild_list() == 2
        assert before == await journal.rows()
        assert live == await journal.live()


async def test_a_damaged_line_is_shown_as_such_and_made_anew(store):  # spec: M1
    async with store.open() as journal:
        alice, bob = await writer(journal), await writer(journal)
        for w in (alice, bob):
            opened = events.SessionOpened(agent="builtin", title="t")
            await w.append(opened, summary=summary(rebuild(w.session, [opened])))
        for body in (b'{"title":', b'{"title":"\xff"}', b'{"title":7}'):
            store.spoil_row(alice.session, summary=body)
            found = {row.session: row for row in await journal.rows()}
            assert found[alice.session].quarantined.startswith("its line in the list is damaged")
            assert found[bob.session].summary.title == "t"
        await journal.rebuild_list()
        row = await journal.row(alice.session)
        assert (row.summary.title, row.quarantined) == ("t", "")


async def test_sessions_are_found_by_how_they_begin(store):  # spec: I2
    async with store.open() as journal:
        sessions = [await writer(journal, name) for name in ("3fa0", "3fb1", "3f", "40", "3e")]
        assert len(sessions) == 5
        assert await journal.find("3f") == ["3f", "3fa0", "3fb1"]
        assert await journal.find("3fb1") == ["3fb1"]
        assert await journal.find("zz") == []
        for odd in ("3f%", "3_", "3f\0", "3f'", "3f\u2028"):
            assert await journal.find(odd) == []
        assert len(await journal.find("")) == 5


async def test_finding_is_bounded(store):
    async with store.open() as journal:
        for _ in range(25):
            await writer(journal, f"ab{new_id()}")
        assert len(await journal.find("ab")) == 20
