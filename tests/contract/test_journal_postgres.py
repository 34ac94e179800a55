"""What is PostgreSQL's own: connections that break, owners that die, hosts that watch."""

import asyncio
import contextlib
import sys

import psycopg
import pytest

from holdfast.core import events
from holdfast.journal.postgres import PostgresJournal
from holdfast.journal.queries import migrations
from holdfast.ports import Conflict, Fenced, StoreDown, Written
from tests.contract.stores import TTL, PostgresSchema, new_id, writer
from tests.postgres import server

pytestmark = pytest.mark.postgres

EVENT = events.SessionRenamed(title="a")


async def until(condition, seconds=60):
    """Polls, for what another process does in its own time."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.01)


async def cut(store, connection):
    """The server ends it, as an administrator or a network would."""
    pid = connection.info.backend_pid
    store.run("select pg_terminate_backend(?)", pid)

    async def gone():
        return not store.run("select from pg_stat_activity where pid = ?", pid)

    await until(gone)


async def cut_guard(store, journal):
    await cut(store, journal._guard)

    async def heard():
        return journal._fallen

    await until(heard)


async def dead(journal, owner):
    async def gone():
        return await journal.owner_dead(owner)

    await until(gone)


# --- who lives ------------------------------------------------------------------------------------


async def test_an_owner_lives_as_long_as_its_journal(postgres):  # spec: D1
    async with postgres.open() as journal:
        async with postgres.open() as other:
            assert await journal.owner_dead("alice") is True
            await writer(other, owner="alice")
            await other.stand("carol")
            for asked in (journal, other):
                assert await asked.owner_dead("alice") is False
                assert await asked.owner_dead("carol") is False
            assert await journal.owner_dead("bob") is True
        await dead(journal, "alice")


async def test_an_owner_dies_with_its_process(postgres):  # spec: D1 P3
    script = f"""
import asyncio
from holdfast.journal.postgres import PostgresJournal
async def main():
    journal = PostgresJournal({postgres.dsn!r}, {postgres.schema!r})
    await journal.open()
    await journal.claim("a1", "alice", now=1000, ttl=10**9)
    print("ready", flush=True)
    await asyncio.sleep(100)
asyncio.run(main())
"""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert await child.stdout.readline() == b"ready\n"
        async with postgres.open() as journal:
            assert await journal.owner_dead("alice") is False
            child.kill()
            await child.wait()
            await dead(journal, "alice")
            lease = await journal.claim("a1", "bob", now=1000, ttl=TTL, dead="alice")
            assert lease.generation == 2
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def test_owners_of_other_schemas_are_not_ours(postgres):
    other = PostgresSchema(postgres.dsn, f"{postgres.schema}_b")
    async with postgres.open() as journal, other.open() as elsewhere:
        await elsewhere.stand("alice")
        assert await journal.owner_dead("alice") is True
        assert journal.epoch != elsewhere.epoch


# --- what breaks ----------------------------------------------------------------------------------


async def test_a_broken_writer_is_said_once_and_then_mended(postgres):  # spec: P1 M2
    async with postgres.open() as journal, postgres.open() as other:
        alice = await writer(journal)
        await cut(postgres, journal._writer)
        with pytest.raises(StoreDown):
            await alice.append(EVENT)
        assert await other.owner_dead("alice") is False, "only the writer broke"
        await alice.append(EVENT)
        assert len(await other.read(alice.session)) == 1


async def test_a_renewal_on_a_broken_connection_is_said_too(postgres):  # spec: P3
    async with postgres.open() as journal:
        alice = await writer(journal)
        await cut(postgres, journal._writer)
        with pytest.raises(StoreDown):
            await journal.renew("alice", [alice.lease], now=2000, ttl=TTL)
        assert await journal.renew("alice", [alice.lease], now=2000, ttl=TTL) == []


async def test_a_lost_lock_is_said_before_anything_is_written(postgres):  # spec: P3
    async with postgres.open() as journal, postgres.open() as other:
        alice = await writer(journal)
        await cut_guard(postgres, journal)
        assert await other.owner_dead("alice") is True
        before = postgres.everything()
        with pytest.raises(StoreDown, match="lock was lost"):
            await alice.append(EVENT)
        assert before == postgres.everything()
        await alice.append(EVENT)
        assert await other.owner_dead("alice") is False


async def test_who_was_taken_for_dead_is_fenced_when_it_comes_back(postgres):  # spec: P3
    async with postgres.open() as journal, postgres.open() as other:
        alice = await writer(journal)
        await cut_guard(postgres, journal)
        await other.claim(alice.session, "bob", now=1000, ttl=TTL, dead="alice")
        with pytest.raises(StoreDown):
            await alice.append(EVENT)
        with pytest.raises(Fenced):
            await alice.append(EVENT)
        assert await journal.read(alice.session) == []


async def test_a_broken_reader_is_not_noticed(postgres):
    async with postgres.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT)
        await journal.rows()
        await cut(postgres, journal._reader)
        found = await asyncio.gather(*(journal.read(alice.session) for _ in range(5)))
        assert [len(page) for page in found] == [1] * 5


async def test_a_store_that_lost_what_it_acknowledged_is_not_written(postgres):  # spec: P1
    async with postgres.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT)
        await alice.append(EVENT)
        await cut(postgres, journal._writer)
        postgres.spoil_row(alice.session, head=1)  # restored from an older copy
        with pytest.raises(StoreDown):
            await alice.append(EVENT)
        for _ in range(2):
            with pytest.raises(StoreDown, match="acknowledged up to 2 and the store has 1"):
                await alice.append(EVENT)


async def test_events_behind_the_head_are_not_shown(postgres):
    """They are no part of any write that was finished."""
    async with postgres.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT, EVENT)
        postgres.spoil_row(alice.session, head=1)
        assert [r.seq for r in await journal.read(alice.session)] == [1]
        alice.head = 1
        with pytest.raises(Conflict, match="what follows 1 exists already"):
            await alice.append(EVENT)


async def test_streamed_text_that_a_crash_took_is_no_loss(postgres):  # spec: P1
    """It was not acknowledged as durable: the writer reads again and goes on."""
    async with postgres.open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT)
        await alice.append(EVENT, durable=False)
        await cut(postgres, journal._writer)
        postgres.lose(alice.session, 2)
        postgres.spoil_row(alice.session, head=1)
        with pytest.raises(StoreDown):
            await alice.append(EVENT)
        with pytest.raises(Conflict):
            await alice.append(EVENT)
        alice.head = 1
        await alice.append(EVENT)


@pytest.mark.usefixtures("postgres_dsn")  # skips where there is none
async def test_a_server_that_dies_and_comes_back_has_everything():  # spec: P1 M2
    with server() as up:
        async with PostgresSchema(up.dsn, "holdfast").open() as journal:
            alice = await writer(journal)
            for _ in range(20):
                await alice.append(EVENT)
            up.kill()
            for _ in range(3):
                with pytest.raises(StoreDown):
                    await alice.append(EVENT)
                with pytest.raises(StoreDown):
                    await journal.rows()
            up.start()
            assert len(await journal.read(alice.session)) == 20
            await alice.append(EVENT)
            assert await journal.owner_dead("alice") is False
            assert len(await journal.read(alice.session)) == 21


async def test_a_server_that_is_not_there_is_named():  # spec: M1
    journal = PostgresJournal("host=127.0.0.1 port=1 connect_timeout=2")
    with pytest.raises(StoreDown, match=r"the journal cannot be used: .*127\.0\.0\.1"):
        await journal.open()
    await journal.close()


async def test_a_deadlock_is_tried_again_by_whoever_decides(postgres):
    async with postgres.open() as journal:
        alice = await writer(journal)
        postgres.run(
            "create function ring() returns trigger language plpgsql as "
            "$$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$"
        )
        postgres.run("create trigger ring before insert on event execute function ring()")
        with pytest.raises(Conflict):
            await alice.append(EVENT)
        postgres.run("drop trigger ring on event")
        await alice.append(EVENT)


# --- what is durable ------------------------------------------------------------------------------


def note_commits(postgres):
    """Writes down what each commit of an event waits for, when it commits."""
    postgres.run("create table waited (n serial, setting text)")
    postgres.run(
        "create function note() returns trigger language plpgsql as $$ begin insert into waited "
        "(setting) values (current_setting('synchronous_commit')); return null; end $$"
    )
    postgres.run(
        "create constraint trigger note after insert on event deferrable initially deferred "
        "for each row execute function note()"
    )


@pytest.mark.parametrize("role_says", ["on", "off"])
async def test_what_must_survive_a_power_cut_waits_for_the_disk(postgres, role_says):  # spec: P1
    dsn = f"{postgres.dsn} options='-c synchronous_commit={role_says}'"
    postgres = PostgresSchema(dsn, postgres.schema)
    async with postgres.open() as journal:
        note_commits(postgres)
        alice = await writer(journal)
        for durable in (True, False, True):
            await alice.append(EVENT, durable=durable)
    waited = [setting for (setting,) in postgres.run("select setting from waited order by n")]
    assert waited == ["on", "off", "on"]


# --- who watches ----------------------------------------------------------------------------------


async def test_watchers_on_other_hosts_are_woken(postgres):  # spec: J2
    async with postgres.open() as journal, postgres.open() as other:
        alice, bob = await writer(journal), await writer(other)
        async with other.changes() as news:
            await alice.append(EVENT, EVENT)
            with pytest.raises(Conflict):
                await alice.append(EVENT, head=0)
            await bob.append(EVENT, durable=False)
            heard = [await anext(news), await anext(news)]
            assert heard == [Written(session=alice.session), Written(session=bob.session)]
            assert len(await other.read(alice.session)) == 2


async def test_watchers_hear_that_they_are_cut_off(postgres):  # spec: J2
    async with postgres.open() as journal, journal.changes() as news:
        postgres.run(
            "select pg_terminate_backend(pid) from pg_stat_activity where query like ?",
            f'listen "{postgres.schema}"',
        )
        with pytest.raises(StoreDown):
            await anext(news)


async def test_the_server_has_one_clock_for_all(postgres):
    async with postgres.open() as journal:
        first, second = await journal.server_now(), await journal.server_now()
        [(now,)] = postgres.run("select extract(epoch from clock_timestamp()) * 1000")
        assert 1_700_000_000_000 < first <= second <= now


# --- the schema -----------------------------------------------------------------------------------


async def test_several_processes_may_start_at_once(postgres):  # spec: M2
    journals = [postgres.journal() for _ in range(8)]
    await asyncio.gather(*(journal.open() for journal in journals))
    assert len({journal.epoch for journal in journals}) == 1
    assert postgres.run("select number from schema_version order by 1") == [
        (number,) for number, _ in migrations("postgres")
    ]
    for journal in journals:
        await (await writer(journal)).append(EVENT)
        await journal.close()


async def test_a_database_put_back_elsewhere_is_another_history(postgres):  # spec: J2
    async with postgres.open() as journal:
        epoch = journal.epoch
    postgres.run("update meta set value = 'another server' where key = 'place'")
    async with postgres.open() as journal, postgres.open() as other:
        assert journal.epoch == other.epoch != epoch


async def test_a_role_that_owns_only_its_schema_will_do(postgres):
    role = f"plain_{postgres.schema}"
    with psycopg.connect(postgres.dsn, autocommit=True) as db:
        db.execute(f"create role {role} login")
        db.execute(f"create schema {postgres.schema} authorization {role}")
    dsn = postgres.dsn.replace("user=holdfast", f"user={role}")
    async with PostgresSchema(dsn, postgres.schema).open() as journal:
        alice = await writer(journal)
        await alice.append(EVENT)
        assert await journal.owner_dead("alice") is False


async def test_a_schema_may_have_any_name(postgres):
    odd = PostgresJournal(postgres.dsn, f'Odd "{postgres.schema}", or so')
    await odd.open()
    async with odd.changes() as news:
        alice = await writer(odd)
        await alice.append(EVENT)
        assert await anext(news) == Written(session=alice.session)
    await odd.close()


async def test_a_lease_is_claimed_in_many_sessions_by_one_lock(postgres):
    async with postgres.open() as journal:
        for _ in range(3):
            await journal.claim(new_id(), "alice", now=1000, ttl=TTL)
        assert journal._standing == {"alice"}
