"""What is owed, copies of the fold, and large outputs."""

import hashlib

import pytest

from holdfast.core import effects, events
from holdfast.core.session import Session
from holdfast.journal import rows
from holdfast.ports import Blob, Conflict
from tests.contract.samples import sample
from tests.contract.stores import writer

EVENT = events.SessionRenamed(title="a")


def tell(text):
    return effects.NotifyPerson(kind="stop", text=text)


def texts(owed):
    return [errand.effect.text for errand in owed]


# --- errands --------------------------------------------------------------------------------------


async def test_errands_are_owed_in_the_order_they_were_written(store):  # spec: P4
    async with store.open() as journal:
        alice, bob = await writer(journal), await writer(journal)
        for n in range(12):  # 10 comes after 9, not after 1
            two = (bob.errand(tell(f"b{n}"), n=10), bob.errand(tell(f"a{n}"), n=9))
            await bob.append(EVENT, errands=two)
            await alice.append(EVENT, errands=(alice.errand(tell(f"alice {n}")),))
        assert texts(await journal.owed(alice.session)) == [f"alice {n}" for n in range(12)]
        bobs = [f"{letter}{n}" for n in range(12) for letter in "ab"]
        assert texts(await journal.owed(bob.session)) == bobs
        assert texts(await journal.owed()) == [f"alice {n}" for n in range(12)] + bobs


async def test_an_errand_comes_back_as_it_went_and_survives_a_restart(store):  # spec: P4
    async with store.open() as journal:
        alice = await writer(journal)
        owed = alice.errand(sample(effects.WakeSession), due=77)
        await alice.append(EVENT, errands=(owed,))
        assert await journal.owed(alice.session) == [owed]
    async with store.open() as journal:
        assert await journal.owed() == [owed]


async def test_a_settled_errand_is_not_owed(store):  # spec: P4
    async with store.open() as journal:
        alice = await writer(journal)
        errands = tuple(alice.errand(tell(str(n)), n=n) for n in range(3))
        await alice.append(EVENT, errands=errands)
        await journal.settle(errands[0])
        await journal.settle(errands[0])
        assert await journal.owed(alice.session) == list(errands[1:])
        await alice.append(EVENT, settled=(errands[1].id,))
        assert await journal.owed(alice.session) == [errands[2]]


async def test_what_is_settled_with_its_own_batch_is_never_owed(store):
    async with store.open() as journal:
        alice = await writer(journal)
        errand = alice.errand(tell("a"))
        await alice.append(EVENT, errands=(errand,), settled=(errand.id,))
        assert await journal.owed() == []


async def test_a_batch_that_is_refused_settles_nothing(store):  # spec: P4
    async with store.open() as journal:
        alice = await writer(journal)
        errand = alice.errand(tell("a"))
        await alice.append(EVENT, errands=(errand,))
        with pytest.raises(Conflict):
            await alice.append(EVENT, head=0, settled=(errand.id,))
        assert await journal.owed() == [errand]


async def test_settling_needs_no_event(store):
    async with store.open() as journal:
        alice = await writer(journal)
        errand = alice.errand(tell("a"))
        await alice.append(EVENT, errands=(errand,))
        await alice.append(settled=(errand.id,))
        assert await journal.owed() == []
        assert (await journal.row(alice.session)).head == 1


async def test_a_postponed_errand_keeps_its_place_and_counts_its_tries(store):  # spec: P4
    async with store.open() as journal:
        alice = await writer(journal)
        first, second = (alice.errand(tell(str(n)), n=n) for n in range(2))
        await alice.append(EVENT, errands=(first, second))
        await journal.postpone(first, due=500)
        await journal.postpone(first, due=900)
        found, other = await journal.owed(alice.session)
        assert (found.id, found.due, found.attempts) == (first.id, 900, 2)
        assert other == second


# --- copies of the fold ---------------------------------------------------------------------------


def copy_of(alice, title="a", seq=1):
    return Session(id=alice.session, seq=seq, title=title)


async def test_the_newest_copy_wins(store):
    async with store.open() as journal:
        alice = await writer(journal)
        assert await journal.snapshot(alice.session) is None
        await alice.append(EVENT, snapshot=copy_of(alice, "first", 1))
        await alice.append(EVENT)
        await alice.append(EVENT, snapshot=copy_of(alice, "second", 3))
        found = await journal.snapshot(alice.session)
        assert (found.seq, found.session) == (3, copy_of(alice, "second", 3))
        bob = await writer(journal)
        assert await journal.snapshot(bob.session) is None


async def test_a_copy_holds_every_field(store):
    async with store.open() as journal:
        alice = await writer(journal)
        whole = sample(Session)
        await alice.append(EVENT, snapshot=whole)
        assert (await journal.snapshot(alice.session)).session == whole


@pytest.mark.parametrize(
    "columns",
    [
        {"version": rows.SNAPSHOT_VERSION + 1},
        {"version": rows.SNAPSHOT_VERSION - 1},
        {"body": b'{"id":"a","tit'},
        {"body": b'{"id":"a","title":7}'},
        {"body": b'{"id":"\xff"}'},
        {"body": b""},
        {"body": b"[]"},
    ],
    ids=str,
)
async def test_a_copy_that_is_of_no_use_is_ignored(store, columns):  # spec: M1
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT, snapshot=copy_of(alice))
        store.spoil_snapshot(alice.session, **columns)
        assert await journal.snapshot(alice.session) is None
        assert len(await journal.read(alice.session)) == 1
        await alice.append(EVENT, snapshot=copy_of(alice, seq=2))
        assert (await journal.snapshot(alice.session)).seq == 2


# --- large outputs --------------------------------------------------------------------------------


def blob(body):
    return Blob(id=hashlib.sha256(body).hexdigest(), body=body)


async def test_a_large_output_is_kept_whole_and_its_row_stays_small(store):  # spec: C4
    line = "".join(chr(0x20 + n % 90) for n in range(997)) + "\n"
    large = blob((line * 41_000).encode())
    assert len(large.body) > 40_000_000
    async with store.open() as journal:
        alice = await writer(journal)
        finished = events.CallFinished(call="c", output="ends", blob=large.id, size=len(large.body))
        await alice.append(finished, blobs=(large,))
        assert (await journal.blob(large.id)) == large.body
        [(size,)] = store.run("select length(body) from event")
        assert size < 200
        assert [r.event for r in await journal.read(alice.session)] == [finished]


async def test_the_same_output_is_kept_once(store):
    async with store.open() as journal:
        same = blob(b"the same")
        for _ in range(2):
            alice = await writer(journal)
            await alice.append(EVENT, blobs=(same, blob(b"another")))
        assert len(store.everything()["blob"]) == 2
        assert await journal.blob(same.id) == b"the same"
        assert await journal.blob("not there") is None


async def test_a_refused_batch_leaves_no_output_behind(store):
    async with store.open() as journal:
        alice = await writer(journal)
        with pytest.raises(Conflict):
            await alice.append(EVENT, head=3, blobs=(blob(b"a"),), snapshot=copy_of(alice))
        assert store.everything()["blob"] == []
        assert store.everything()["snapshot"] == []
