"""One writer per session: claimed, renewed, lost, given back."""

import asyncio

import pytest

from holdfast.core import events
from holdfast.ports import Fenced, Held
from tests.contract.stores import TTL, new_id, older, writer

EVENT = events.SessionRenamed(title="a")


async def test_the_first_claim_makes_the_session(store):  # spec: A7
    async with store.open() as journal:
        session = new_id()
        lease = await journal.claim(session, "alice", now=1000, ttl=TTL)
        assert (lease.session, lease.generation, lease.head) == (session, 1, 0)
        row = await journal.row(session)
        assert (row.owner, row.lease_until, row.generation) == ("alice", 1000 + TTL, 1)
        assert (row.created_at, row.updated_at, row.head) == (1000, 1000, 0)


async def test_a_lease_that_runs_is_held(store):  # spec: P3 A7
    async with store.open() as journal:
        alice = await writer(journal, now=1000)
        before = store.everything()
        with pytest.raises(Held) as held:
            await journal.claim(alice.session, "bob", now=1000 + TTL - 1, ttl=TTL)
        assert (held.value.owner, held.value.until) == ("alice", 1000 + TTL)
        assert before == store.everything()
        await alice.append(EVENT)


async def test_a_lease_that_ran_out_is_free(store):  # spec: P3 D1
    async with store.open() as journal:
        alice = await writer(journal, now=1000)
        await alice.append(EVENT)
        bob = await journal.claim(alice.session, "bob", now=1000 + TTL, ttl=TTL)
        assert (bob.generation, bob.head) == (2, 1)
        with pytest.raises(Fenced):
            await alice.append(EVENT)


async def test_who_knows_the_owner_dead_takes_over(store):  # spec: P3
    async with store.open() as journal:
        alice = await writer(journal)
        bob = await journal.claim(alice.session, "bob", now=1000, ttl=TTL, dead="alice")
        assert bob.generation == alice.lease.generation + 1
        with pytest.raises(Fenced):
            await alice.append(EVENT)


async def test_an_owner_may_claim_again_and_is_fenced_from_its_former_self(store):  # spec: P3
    async with store.open() as journal:
        first = await writer(journal)
        again = await writer(journal, first.session)
        assert again.lease.generation == 2
        with pytest.raises(Fenced):
            await first.append(EVENT)
        await again.append(EVENT)


async def test_generations_only_go_up(store):  # spec: P3
    async with store.open() as journal:
        session, seen = new_id(), []
        for n in range(6):
            lease = await journal.claim(session, f"owner {n % 2}", now=n * TTL, ttl=TTL)
            seen.append(lease.generation)
            if n % 3 == 0:
                await journal.release(lease)
    async with store.open() as journal:
        lease = await journal.claim(session, "alice", now=99 * TTL, ttl=TTL)
        assert [*seen, lease.generation] == [1, 2, 3, 4, 5, 6, 7]


async def test_a_lease_is_given_back_with_a_write(store):  # spec: A7
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT, release=True)
        bob = await journal.claim(alice.session, "bob", now=1000, ttl=TTL)
        assert (bob.generation, bob.head) == (2, 1)


async def test_a_write_that_was_refused_gives_nothing_back(store):  # spec: P3
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT, identities=("a",))
        with pytest.raises(Exception, match="already has a"):
            await alice.append(EVENT, identities=("a",), release=True)
        with pytest.raises(Held):
            await journal.claim(alice.session, "bob", now=1000, ttl=TTL)


async def test_only_the_holder_gives_a_lease_back(store):  # spec: P3
    async with store.open() as journal:
        alice = await writer(journal)
        again = await writer(journal, alice.session)
        await journal.release(older(again.lease))
        with pytest.raises(Held):
            await journal.claim(alice.session, "bob", now=1000, ttl=TTL)
        await journal.release(again.lease)
        await journal.claim(alice.session, "bob", now=1000, ttl=TTL)


async def test_a_renewal_extends_what_is_ours_and_names_what_is_not(store):  # spec: P3 A7
    async with store.open() as journal:
        kept, taken, expired, reclaimed = [await writer(journal) for _ in range(4)]
        await journal.claim(taken.session, "bob", now=1000, ttl=TTL, dead="alice")
        await writer(journal, reclaimed.session)
        until = {w: (await journal.row(w.session)).lease_until for w in (taken, reclaimed)}
        leases = [w.lease for w in (kept, taken, expired, reclaimed)]
        lost = await journal.renew("alice", leases, now=50_000, ttl=TTL)
        assert lost == [taken.session, reclaimed.session]
        for w in (kept, expired):  # nobody came in between: it is still ours
            assert (await journal.row(w.session)).lease_until == 50_000 + TTL
        for w in (taken, reclaimed):
            assert (await journal.row(w.session)).lease_until == until[w]


async def test_a_renewal_by_another_owner_extends_nothing(store):  # spec: P3
    async with store.open() as journal:
        alice = await writer(journal)
        before = store.everything()
        lost = await journal.renew("mallory", [alice.lease], now=50_000, ttl=TTL)
        assert lost == [alice.session]
        assert before == store.everything()


async def test_renewing_nothing_loses_nothing(store):
    async with store.open() as journal:
        assert await journal.renew("alice", [], now=1, ttl=TTL) == []


async def test_a_renewed_lease_still_writes(store):
    async with store.open() as journal:
        alice = await writer(journal)
        assert await journal.renew("alice", [alice.lease], now=9000, ttl=TTL) == []
        await alice.append(EVENT)
        with pytest.raises(Held):
            await journal.claim(alice.session, "bob", now=9000 + TTL - 1, ttl=TTL)


async def test_of_many_who_claim_at_once_one_holds(store):  # spec: P3
    async with store.open() as one, store.open() as other:
        session = new_id()
        claims = await asyncio.gather(
            *(
                journal.claim(session, f"owner {n}", now=1000, ttl=TTL)
                for n, journal in enumerate([one, other] * 10)
            ),
            return_exceptions=True,
        )
        assert sorted(type(c).__name__ for c in claims) == ["Held"] * 19 + ["Lease"]
        row = await one.row(session)
        assert row.generation == 1
        assert row.owner == f"owner {[type(c).__name__ for c in claims].index('Lease')}"


async def test_of_many_who_take_over_from_the_dead_one_wins(store):  # spec: P3
    """The name of the dead, not a flag: the first of them is alive and is not displaced."""
    async with store.open() as one, store.open() as other:
        alice = await writer(one)
        claims = await asyncio.gather(
            *(
                journal.claim(alice.session, f"owner {n}", now=1000, ttl=TTL, dead="alice")
                for n, journal in enumerate([one, other] * 10)
            ),
            return_exceptions=True,
        )
        assert sorted(type(c).__name__ for c in claims) == ["Held"] * 19 + ["Lease"]
        assert (await one.row(alice.session)).generation == 2


async def test_however_many_claim_no_two_hold_one_generation(store):  # spec: P3
    """Leases that have run out before they began: every claim succeeds."""
    async with store.open() as one, store.open() as other:
        session = new_id()
        leases = await asyncio.gather(
            *(
                journal.claim(session, f"owner {n}", now=1000, ttl=0)
                for n, journal in enumerate([one, other] * 10)
            )
        )
        assert sorted(lease.generation for lease in leases) == list(range(1, 21))
        newest = max(range(20), key=lambda n: leases[n].generation)
        assert (await one.row(session)).owner == f"owner {newest}"
