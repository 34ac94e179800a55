"""The store, looked at from outside: whole, missing, damaged, of a later version."""

# spec: M1

from holdfast.core import events
from holdfast.journal import health
from tests.contract.stores import writer


async def look(store):
    if store.kind == "sqlite":
        return health.of_sqlite(store.path)
    return await health.of_postgres(store.dsn, store.schema)


async def test_a_store_that_is_not_there_yet_is_no_trouble(store):
    found = await look(store)
    assert (False, "") == (found.there, found.problem)


async def test_sessions_are_counted_while_they_are_in_use(store):
    async with store.open() as journal:
        alice, _ = await writer(journal), await writer(journal)
        await alice.append(events.SessionRenamed(title="a"))
        await journal.quarantine(alice.session, "damaged")
        found = await look(store)
    assert ("", 2, 1) == (found.problem, found.sessions, found.quarantined)


async def test_a_later_version_and_damage_are_said(sqlite):
    async with sqlite.open():
        pass
    sqlite.pretend_newer()
    assert "later version" in health.of_sqlite(sqlite.path).problem
    sqlite.path.write_bytes(sqlite.path.read_bytes()[:5000] + b"x" * 60_000)
    assert health.of_sqlite(sqlite.path).problem != ""


async def test_a_server_that_is_not_there_is_said_without_its_password():
    found = await health.of_postgres("postgresql://me:hush@127.0.0.1:1/none")
    assert "cannot be reached" in found.problem
    assert "hush" not in str(found)
