"""Removed for good: all of one session, at once, and nothing of any other."""

# spec: A10, P1, P3

import asyncio
import hashlib

import pytest

from holdfast.core import effects, events
from holdfast.core.session import Session
from holdfast.ports import Blob, Fenced, Lease
from holdfast.views.sessions import Summary
from tests.contract.stores import TABLES, older, writer

NOBODY = {"generation": 0, "head": 0}


def blob(text):
    body = text.encode()
    return Blob(id=hashlib.sha256(body).hexdigest(), body=body)


def claims(kept):
    return events.CallFinished(call="c", output="ends", blob=kept.id, size=len(kept.body))


async def written(journal, *blobs):
    """A session with something in every table."""
    w = await writer(journal)
    errand = w.errand(effects.NotifyPerson(kind="stop", text="a"))
    await w.append(
        *(claims(b) for b in blobs or (blob(w.session),)),
        blobs=blobs or (blob(w.session),),
        errands=(errand,),
        summary=Summary(title=w.session),
        snapshot=Session(id=w.session, seq=1),
    )
    return w


def rows_of(store):
    found = store.everything()
    return {table: found[table] for table in TABLES if table not in ("meta", "purged")}


async def test_nothing_of_it_is_left_and_nothing_else_is_touched(store):
    async with store.open() as journal:
        other = await written(journal)
        before = rows_of(store)
        gone = await written(journal)
        await journal.purge(gone.lease, at=77)

        assert before == rows_of(store)
        assert await journal.read(gone.session) == []
        assert await journal.row(gone.session) is None
        assert await journal.snapshot(gone.session) is None
        assert await journal.owed(gone.session) == []
        assert await journal.find(gone.session) == []
        assert await journal.purged(gone.session[:12]) == [(gone.session, 77)]
        assert await journal.purged(other.session) == []


async def test_a_blob_stays_as_long_as_anybody_has_it(store):
    shared, own = blob("shared" * 10_000), blob("own" * 10_000)
    async with store.open() as journal:
        parent = await written(journal, shared, own)
        fork = await writer(journal)
        await fork.append(claims(shared))  # copied: the blob itself was kept by the parent
        await journal.purge(parent.lease, at=1)

        assert await journal.blob(shared.id) == shared.body
        assert await journal.blob(own.id) is None

        await journal.purge(fork.lease, at=2)

        assert await journal.blob(shared.id) is None


async def test_only_its_owner_purges(store):
    async with store.open() as journal:
        alice = await written(journal)
        again = await writer(journal, alice.session)
        before = store.everything()
        for lease in (older(again.lease), Lease(session="f" * 12, **NOBODY)):
            with pytest.raises(Fenced):
                await journal.purge(lease, at=1)

        assert before == store.everything()


async def test_whoever_still_writes_to_it_is_fenced(store):
    """Also if the next session has taken its place in the store."""
    async with store.open() as journal, store.open() as elsewhere:
        first = await writer(journal)
        ghost = await writer(elsewhere, first.session)
        await ghost.append(events.SessionRenamed(title="a"))
        again = await writer(journal, first.session)
        await journal.purge(again.lease, at=1)
        heir = await writer(journal)
        heir_again = await writer(journal, heir.session)
        await heir_again.append(events.SessionRenamed(title="b"))
        with pytest.raises(Fenced):
            await ghost.append(events.SessionRenamed(title="c"), generation=2)

        assert [r.event.title for r in await journal.read(heir.session)] == ["b"]
        assert await journal.renew("alice", [again.lease], now=1, ttl=1) == [again.session]


async def test_what_was_purged_is_not_missed_after_the_store_was_away(store):
    """By us, or by another process that has the same store."""
    async with store.open() as journal, store.open() as elsewhere:
        ours, theirs, kept = [await written(journal) for _ in range(3)]
        await journal.purge(ours.lease, at=1)
        taken = await writer(elsewhere, theirs.session)
        await elsewhere.purge(taken.lease, at=1)
        await fall_down(journal)
        await kept.append(events.SessionRenamed(title="b"))

        assert [r.session for r in await journal.rows()] == [kept.session]


async def fall_down(journal):
    """As after trouble with the disk or the server."""
    if hasattr(journal, "_fail_stop"):
        journal._fail_stop()
    else:
        await journal._put_down()


async def test_a_purge_that_fails_in_the_middle_took_nothing(store):
    async with store.open() as journal:
        gone = await written(journal)
        before = store.everything()
        if store.kind == "sqlite":
            refuse = "begin select raise(abort, 'no'); end"
            store.run(f"create trigger no_purge before delete on session {refuse}")
        else:
            store.run(
                "create function no() returns trigger language plpgsql as "
                "$$ begin raise exception 'no'; end $$"
            )
            store.run("create trigger no_purge before delete on session execute function no()")
        with pytest.raises(Exception, match="no"):
            await journal.purge(gone.lease, at=1)

        assert before == store.everything()


async def test_a_blob_that_is_written_again_while_it_is_purged_is_there_afterwards(store):
    same = blob("same" * 10_000)
    async with store.open() as journal, store.open() as elsewhere:
        for _ in range(10):
            gone = await written(journal, same)
            heir = await writer(elsewhere)
            await asyncio.gather(
                journal.purge(gone.lease, at=1),
                heir.append(claims(same), blobs=(same,)),
            )

            assert await journal.blob(same.id) == same.body

            await elsewhere.purge(heir.lease, at=2)

            assert await journal.blob(same.id) is None


async def test_a_store_from_before_knows_afterwards_who_has_which_blob(store):
    shared, own = blob("shared" * 10_000), blob("own" * 10_000)
    async with store.open() as journal:
        parent = await written(journal, shared, own)
        fork = await writer(journal)
        hostile = events.CallFinished(call="d", output='"blob":"abc" {"blob": "')
        await fork.append(claims(shared), hostile)
    uses = store.everything()["blob_use"]
    store.run("drop table blob_use")
    store.run("drop table purged")
    if store.kind == "sqlite":
        store.run("pragma user_version = 3")
    else:
        store.run("delete from schema_version where number = 3")
    async with store.open() as journal:
        assert uses == store.everything()["blob_use"]
        await journal.purge(parent.lease, at=1)

        assert await journal.blob(shared.id) == shared.body
        assert await journal.blob(own.id) is None


async def test_what_is_removed_for_good_is_not_in_the_file(sqlite):
    async with sqlite.open() as journal:
        gone = await writer(journal)
        await gone.append(*(events.SessionRenamed(title=f"swordfish{n}") for n in range(2000)))
        await journal.purge(gone.lease, at=1)
        await gone.journal._write(lambda _: None)
    files = [p for p in sqlite.path.parent.iterdir() if p.name.startswith("journal.db")]

    assert not any(b"swordfish" in p.read_bytes() for p in files)
