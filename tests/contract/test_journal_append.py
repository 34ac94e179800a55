"""Appending: all of it or nothing, in order, once, and only by whoever may."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core import effects, events
from holdfast.core.ids import Generation, Seq, SessionId
from holdfast.ports import Batch, Conflict, Doubled, Fenced, Recorded, StoreDown
from tests.contract.stores import new_id, writer


def renamed(*titles):
    return [events.SessionRenamed(title=title) for title in titles]


def titles(found):
    return [recorded.event.title for recorded in found]


async def test_what_was_appended_is_read_back_in_order(store):  # spec: P1
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a", "b"), at=5)
        await alice.append(*renamed("c"), at=6)
        expected = [
            Recorded(seq=Seq(1), at=5, event=events.SessionRenamed(title="a")),
            Recorded(seq=Seq(2), at=5, event=events.SessionRenamed(title="b")),
            Recorded(seq=Seq(3), at=6, event=events.SessionRenamed(title="c")),
        ]
        assert expected == await journal.read(alice.session)
        assert (await journal.row(alice.session)).head == 3


async def test_it_is_still_there_after_a_restart(store):  # spec: P1
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a", "b"))
        await alice.append(*renamed("c"), durable=False)
    async with store.open() as journal:
        assert titles(await journal.read(alice.session)) == ["a", "b", "c"]


async def test_a_cursor_reads_what_came_after_it(store):  # spec: J2
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed(*"abcde"))
        read = [
            titles(await journal.read(alice.session, after=Seq(after), limit=limit))
            for after, limit in [(0, 2), (2, 2), (4, 2), (5, 2), (9, 2), (3, None), (0, 0)]
        ]
        assert read == [["a", "b"], ["c", "d"], ["e"], [], [], ["d", "e"], []]


async def test_a_session_that_is_not_there_has_no_history(store):
    async with store.open() as journal:
        for nobody in ("ffffffffffff", "", "nul\0nul"):
            assert await journal.read(SessionId(nobody)) == []
            assert await journal.row(SessionId(nobody)) is None
            assert await journal.snapshot(SessionId(nobody)) is None
            assert await journal.owed(SessionId(nobody)) == []


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(1, 4))), min_size=1, max_size=12
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_readers_see_each_event_once_and_in_order_whatever_they_ask_for(store, steps):
    # spec: P1 J2
    async def story():
        async with store.open() as journal:
            alice = await writer(journal)
            seen = []
            for count, limit in steps:
                names = [str(alice.head + n) for n in range(1, count + 1)]
                await alice.append(*renamed(*names))
                seen += await journal.read(alice.session, after=Seq(len(seen)), limit=limit)
            seen += await journal.read(alice.session, after=Seq(len(seen)))
            assert [r.seq for r in seen] == list(range(1, alice.head + 1))
            assert titles(seen) == [str(seq) for seq in range(1, alice.head + 1)]

    asyncio.run(story())


async def test_a_stale_head_is_a_conflict_and_nothing_is_written(store):  # spec: P1
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a"))
        before = store.everything()
        for head in (0, 2):
            with pytest.raises(Conflict, match=f"is at 1, not at {head}"):
                await alice.append(*renamed("lost"), head=head)
        assert before == store.everything()


async def test_a_stale_generation_is_fenced_and_nothing_is_written(store):  # spec: P3
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a"))
        bob = await journal.claim(alice.session, "bob", now=1000, ttl=10, dead="alice")
        before = store.everything()
        with pytest.raises(Fenced, match=r"another owner now \(generation 2, ours was 1\)"):
            await alice.append(*renamed("lost"), durable=False)
        assert before == store.everything()
        assert bob.head == 1


async def test_a_generation_from_the_future_is_fenced_too(store):  # spec: P3
    async with store.open() as journal:
        alice = await writer(journal)
        with pytest.raises(Fenced):
            await alice.append(*renamed("lost"), generation=Generation(2))
        assert await journal.read(alice.session) == []


async def test_nobody_writes_a_session_that_was_never_claimed(store):  # spec: P3
    async with store.open() as journal:
        batch = Batch(
            session=new_id(),
            generation=Generation(0),
            head=Seq(0),
            at=1,
            events=tuple(renamed("a")),
        )
        with pytest.raises(Fenced, match="there is no session"):
            await journal.append(batch)
        assert store.everything()["session"] == []


async def test_a_name_is_kept_once(store):  # spec: P2 P8
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a"), identities=("input:1",))
        before = store.everything()
        with pytest.raises(Doubled) as doubled:
            await alice.append(*renamed("b", "c"), identities=("input:2", "input:1"))
        assert doubled.value.identity == "input:1"
        assert before == store.everything()
        await alice.append(*renamed("b"), identities=("input:2",))
        assert titles(await journal.read(alice.session)) == ["a", "b"]


async def test_a_name_is_kept_once_within_one_batch(store):  # spec: P2
    async with store.open() as journal:
        alice = await writer(journal)
        before = store.everything()
        with pytest.raises(Doubled) as doubled:
            await alice.append(*renamed("a", "b"), identities=("input:1", "input:1"))
        assert doubled.value.identity == "input:1"
        assert before == store.everything()


async def test_other_sessions_may_use_the_same_name(store):  # spec: P2
    async with store.open() as journal:
        for _ in range(2):
            alice = await writer(journal)
            await alice.append(*renamed("a", "b"), identities=("opened", None))
            assert titles(await journal.read(alice.session)) == ["a", "b"]


async def test_events_without_a_name_may_be_alike(store):
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a", "a"), identities=(None, None))
        assert titles(await journal.read(alice.session)) == ["a", "a"]


async def test_a_batch_is_all_or_nothing(store):  # spec: P1
    """The last part of it fails: what came before it is undone."""
    async with store.open() as journal:
        alice = await writer(journal)
        owed = alice.errand(effects.NotifyPerson(kind="a", text="a"))
        await alice.append(*renamed("a"), errands=(owed,))
        before = store.everything()
        with pytest.raises(Conflict):
            await alice.append(*renamed("b"), identities=("input:1",), errands=(owed,))
        assert before == store.everything()
        await alice.append(*renamed("b"), identities=("input:1",))


async def test_one_bad_batch_does_not_spoil_those_that_came_with_it(store):  # spec: P1
    async with store.open() as journal:
        writers = [await writer(journal) for _ in range(20)]
        names = [("good",) if n % 5 else ("lone \ud800",) for n in range(20)]
        outcomes = await asyncio.gather(
            *(
                w.append(*renamed("a"), identities=name)
                for w, name in zip(writers, names, strict=True)
            ),
            return_exceptions=True,
        )
        failed = [n for n, outcome in enumerate(outcomes) if outcome is not None]
        assert failed == [0, 5, 10, 15]
        assert {type(outcomes[n]) for n in failed} == {UnicodeEncodeError}
        for n, w in enumerate(writers):
            assert len(await journal.read(w.session)) == (n not in failed)


async def test_writers_of_many_sessions_do_not_disturb_each_other(store):  # spec: P1
    async with store.open() as journal:
        writers = [await writer(journal) for _ in range(10)]

        async def write(w):
            for n in range(10):
                await w.append(*renamed(str(n)), durable=n % 2 == 0)

        await asyncio.gather(*map(write, writers))
        for w in writers:
            assert titles(await journal.read(w.session)) == [str(n) for n in range(10)]


async def test_of_two_who_write_at_once_with_one_lease_one_wins(store):  # spec: P1 P3
    async with store.open() as journal:
        alice = await writer(journal)
        outcomes = await asyncio.gather(
            *(journal.append(alice.batch(*renamed(str(n)))) for n in range(8)),
            return_exceptions=True,
        )
        assert sorted(type(o).__name__ for o in outcomes) == ["Conflict"] * 7 + ["NoneType"]
        [winner] = await journal.read(alice.session)
        assert winner.event.title == str(outcomes.index(None))


async def test_two_journals_on_one_store_lose_nothing(store):  # spec: P1
    """Two processes' worth."""
    async with store.open() as one, store.open() as other:
        a, b = await writer(one), await writer(other)

        async def write(w):
            for n in range(30):
                await w.append(*renamed(str(n)))

        await asyncio.gather(write(a), write(b))
        for journal in (one, other):
            for w in (a, b):
                assert titles(await journal.read(w.session)) == [str(n) for n in range(30)]


async def test_whoever_stops_waiting_does_not_undo_the_write(store):  # spec: P1
    async with store.open() as journal:
        writers = [await writer(journal) for _ in range(10)]
        tasks = [asyncio.ensure_future(w.append(*renamed("a"))) for w in writers]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        last = await writer(journal)  # writes are done in order: it is behind them all
        await last.append(*renamed("b"))
        for w in writers:
            assert titles(await journal.read(w.session)) == ["a"]


async def test_closing_waits_for_what_is_under_way(store):  # spec: P1
    async with store.open() as journal:
        writers = [await writer(journal) for _ in range(10)]
        tasks = [asyncio.ensure_future(w.append(*renamed("a"))) for w in writers]
        await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks)
    async with store.open() as journal:
        for w in writers:
            assert titles(await journal.read(w.session)) == ["a"]


async def test_a_closed_journal_says_so(store):
    async with store.open() as journal:
        alice = await writer(journal)
    with pytest.raises(StoreDown, match="closed"):
        await alice.append(*renamed("a"))
    with pytest.raises(StoreDown, match="closed"):
        await journal.rows()
    await journal.close()
