"""Damage is named, kept apart, and never made worse. And text is text, whatever is in it."""

import pytest

from holdfast.core import effects, events
from holdfast.ports import Damaged, Held, NewerStore, StoreFull
from holdfast.views.sessions import Summary
from tests.contract.stores import TTL, writer


def renamed(*titles):
    return [events.SessionRenamed(title=title) for title in titles]


# --- damage ---------------------------------------------------------------------------------------

SPOILED = [
    ({"body": b'{"title":"a'}, "session_renamed v1"),
    ({"body": b'{"title":"\xff"}'}, "session_renamed v1"),
    ({"body": b'{"title":7}'}, "session_renamed v1"),
    ({"body": b""}, "session_renamed v1"),
    ({"tag": "of_tomorrow"}, "unknown tag 'of_tomorrow': written by a later version?"),
    ({"version": 2}, "session_renamed v2: written by a later version"),
]


@pytest.mark.parametrize(("columns", "why"), SPOILED, ids=[str(c) for c, _ in SPOILED])
async def test_a_row_that_cannot_be_read_is_named(store, columns, why):  # spec: M1
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed(*"abcd"))
        store.spoil(alice.session, 3, **columns)
        before = store.everything()
        with pytest.raises(Damaged) as damaged:
            await journal.read(alice.session)
        assert (damaged.value.session, damaged.value.seq) == (alice.session, 3)
        assert damaged.value.why.startswith(why)
        assert f"session {alice.session}, event 3" in str(damaged.value)
        assert [r.seq for r in await journal.read(alice.session, limit=2)] == [1, 2]
        assert [r.seq for r in await journal.read(alice.session, after=3)] == [4]
        assert before == store.everything(), "nothing is ever rewritten"


async def read_to_the_end(journal, session, limit):
    seen = 0
    while page := await journal.read(session, after=seen, limit=limit):
        seen = page[-1].seq


@pytest.mark.parametrize("lost", [1, 2, 4], ids=["first", "middle", "last"])
@pytest.mark.parametrize("limit", [None, 2, 4, 9])
async def test_a_gap_is_never_skipped(store, lost, limit):  # spec: P1 M1
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed(*"abcd"), summary=Summary(run=1))  # the list knows of them
        store.lose(alice.session, lost)
        with pytest.raises(Damaged) as damaged:
            await read_to_the_end(journal, alice.session, limit)
        assert damaged.value.seq == lost


async def test_a_quarantined_session_is_left_alone_and_the_rest_goes_on(store):  # spec: M1
    async with store.open() as journal:
        alice, bob = await writer(journal), await writer(journal)
        for w in (alice, bob):
            owed = w.errand(effects.NotifyPerson(kind="a", text="a"))
            await w.append(*renamed("a"), errands=(owed,), summary=Summary(run=1))
        await journal.quarantine(alice.session, "event 1: \0 is damaged")
        for dead in ("", "alice"):
            with pytest.raises(Damaged, match=r"quarantined: event 1: . is damaged"):
                await journal.claim(alice.session, "bob", now=9 * TTL, ttl=TTL, dead=dead)
        assert [e.session for e in await journal.owed()] == [bob.session]
        assert [row.session for row in await journal.live()] == [bob.session]
        assert len(await journal.read(alice.session)) == 1
        assert len(await journal.rows()) == 2
        await bob.append(*renamed("b"))
        await journal.rebuild_list()  # also then
        store.spoil_row(alice.session, live=True)
        assert alice.session not in [row.session for row in await journal.live()]


async def test_a_damaged_errand_names_its_session_and_quarantine_frees_the_rest(store):  # spec: M1
    async with store.open() as journal:
        alice, bob = await writer(journal), await writer(journal)
        for w in (alice, bob):
            owed = w.errand(effects.NotifyPerson(kind="a", text="a"))
            await w.append(*renamed("a"), errands=(owed,))
        store.spoil_errand(f"{alice.session}/1/0", tag="of_tomorrow")
        with pytest.raises(Damaged, match=f"errand {alice.session}/1/0") as damaged:
            await journal.owed()
        await journal.quarantine(damaged.value.session, str(damaged.value))
        assert [e.session for e in await journal.owed()] == [bob.session]


async def test_making_the_list_anew_quarantines_what_cannot_be_read(store):  # spec: M1
    async with store.open() as journal:
        alice, bob = await writer(journal), await writer(journal)
        for w in (alice, bob):
            await w.append(*renamed(*"ab"), summary=Summary(title="b"))
        store.spoil(alice.session, 2, tag="of_tomorrow")
        events_before = store.everything()["event"]
        assert await journal.rebuild_list() == 2
        assert events_before == store.everything()["event"]
        row = await journal.row(alice.session)
        assert row.quarantined.startswith(f"session {alice.session}, event 2: unknown tag")
        assert (await journal.row(bob.session)).quarantined == ""


async def test_a_store_from_the_future_is_refused_and_not_touched(store):  # spec: M2
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a"))
    store.pretend_newer()
    before = store.everything()
    for _ in range(2):
        journal = store.journal()
        with pytest.raises(
            NewerStore, match=r"later version of Holdfast \(schema 999.*nothing was"
        ):
            await journal.open()
        await journal.close()
    assert before == store.everything()


async def test_opening_again_changes_nothing(store):
    async with store.open() as journal:
        await (await writer(journal)).append(*renamed("a"))
        epoch = journal.epoch
    before = store.everything()
    async with store.open() as journal, store.open() as other:
        assert {journal.epoch, other.epoch} == {epoch}
        assert len(epoch) == 12
    after = store.everything()
    assert before | {"meta": None} == after | {"meta": None}  # openings are counted there


async def test_a_full_store_refuses_and_goes_on_when_there_is_room(store):  # spec: M2
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a"))
        before = store.everything()
        with store.filled(journal):
            with pytest.raises(StoreFull, match="no room for the journal"):
                await alice.append(*renamed("b" * 500_000))
            assert before == store.everything()
            assert len(await journal.read(alice.session)) == 1
        await alice.append(*renamed("b"))
        with pytest.raises(Held):
            await journal.claim(alice.session, "bob", now=1000, ttl=TTL)


# --- text -----------------------------------------------------------------------------------------

ODD = {
    "line separators": "a\u2028b\u2029c\x85d\x0be\x0cf\r\ng",
    "nul and controls": "\0\x01\x1b[31m\x7f",
    "byte order mark": "\ufeffa\ufffe",
    "emoji": "👩‍👩‍👧‍👦 🇩🇪 ✅",
    "beyond the first plane": "\U0001f600\U0010ffff",
    "right to left": "\u202eabc\u200f",
    "quotes": "'\"\\ %s %(id)s {} $1 ; -- /* */",
    "nothing": "",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
async def test_text_comes_back_as_it_went(store, text):  # spec: P8
    async with store.open() as journal:
        alice = await writer(journal)
        told = alice.errand(effects.NotifyPerson(kind="a", text=text))
        await alice.append(
            *renamed(text),
            identities=(f"input:{text}",),
            errands=(told,),
            summary=Summary(title=text),
        )
        [found] = await journal.read(alice.session)
        assert found.event.title == text
        assert await journal.owed() == [told]
        assert (await journal.row(alice.session)).summary.title == text
        with pytest.raises(Exception, match="already has") as doubled:
            await alice.append(*renamed("b"), identities=(f"input:{text}",))
        assert doubled.value.identity == f"input:{text}"


async def test_names_that_differ_only_in_what_follows_a_nul_differ(store):  # spec: P2
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(*renamed("a"), identities=("input:\0a",))
        await alice.append(*renamed("b"), identities=("input:\0b",))
        await alice.append(*renamed("c"), identities=("input:",))
        assert len(await journal.read(alice.session)) == 3


@pytest.mark.parametrize("where", ["event", "identity", "errand", "summary"])
async def test_a_lone_surrogate_is_refused_before_anything_is_written(store, where):
    """The engine scrubs it and tries again."""
    lone = "lone \ud800 surrogate"
    async with store.open() as journal:
        alice = await writer(journal)
        before = store.everything()
        errand = alice.errand(effects.NotifyPerson(kind="a", text=lone))
        odd = {
            "event": {},
            "identity": {"identities": (None, f"input:{lone}")},
            "errand": {"errands": (errand,)},
            "summary": {"summary": Summary(title=lone)},
        }[where]
        with pytest.raises(UnicodeEncodeError):
            await alice.append(*renamed("a", lone if where == "event" else "b"), **odd)
        assert before == store.everything()
        await alice.append(*renamed("a", "b"))
        assert len(await journal.read(alice.session)) == 2
