"""What another process writes to the same store is seen by whoever watches here."""

# spec: J2, H1

from contextlib import asynccontextmanager

import pytest

from holdfast.core import inputs as i
from holdfast.core.ids import SessionId
from holdfast.engine.clock import SystemClock
from holdfast.engine.engine import Engine
from holdfast.engine.outbox import Outbox
from holdfast.journal.owner import this_owner
from holdfast.journal.postgres import PostgresJournal
from holdfast.journal.sqlite import SqliteJournal
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.world import FileWorld
from tests.server.place import placed
from tests.server.scripted import SCRIPTS
from tests.server.test_socket import line


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def shared(request, tmp_path, postgres_schema):
    """A daemon, and a journal on the store that it has."""
    if request.param == "sqlite":
        with placed(tmp_path) as place:
            yield place, SqliteJournal(place.home / "journal.db")
        return
    dsn = request.getfixturevalue("postgres_dsn")
    with placed(tmp_path, "--store", dsn, postgres_schema) as place:
        yield place, PostgresJournal(dsn, postgres_schema)


@asynccontextmanager
async def another_process(journal, folder):
    """As a second daemon or a library would be: with an engine of its own. This is one: the daemon
    lives in a process of its own."""
    await journal.open()
    world = FileWorld(folder)
    agents = ScriptedAgents(SCRIPTS["plain"], world)
    engine = Engine(
        journal=journal, clock=SystemClock(), agents=agents, workspaces=world, owner=this_owner()
    )
    outbox = Outbox(engine, world)
    agents.submit = world.submit = engine.submit
    outbox.start()
    try:
        yield engine
    finally:
        await outbox.stop()
        await agents.stop()
        await journal.close()


async def test_a_run_in_another_process_is_seen_event_by_event(shared, tmp_path):
    place, journal = shared
    id = SessionId(place.create(None))
    async with another_process(journal, tmp_path) as engine, line(place) as client:
        await client.say("subscribe", id)
        await client.hear("hello")
        await engine.submit(id, i.SendPrompt(input="p", text="go"))
        found = await client.events("run_stopped")
        assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
        await engine.submit(id, i.RenameSession(title="later"))
        assert (await client.events("session_renamed"))[-1]["data"]["title"] == "later"


async def test_the_list_and_the_page_see_it_too(shared, tmp_path):
    place, journal = shared
    id = SessionId(place.create(None))
    async with (
        another_process(journal, tmp_path) as engine,
        line(place) as listing,
        line(place) as page,
    ):
        await listing.say("subscribe", "*", view="items")
        await listing.hear("hello")
        await page.say("subscribe", id, view="items")
        await page.hear("hello")
        await engine.submit(id, i.RenameSession(title="elsewhere"))
        for client in (listing, page):
            title = ""
            while title != "elsewhere":
                frame = await client.hear("items")
                title = (frame.get("document") or {}).get("title", "")


async def test_nobody_looks_while_nobody_watches(shared, tmp_path):
    place, journal = shared
    id = SessionId(place.create(None))
    async with another_process(journal, tmp_path) as engine:
        await engine.submit(id, i.RenameSession(title="one"))
        async with line(place) as client:
            await client.say("subscribe", id)
            assert (await client.events("session_renamed"))[-1]["seq"] == 2
        await engine.submit(id, i.RenameSession(title="two"))
        async with line(place) as client:
            await client.say("subscribe", id, after=2)
            assert (await client.events("session_renamed"))[-1]["data"]["title"] == "two"
            await engine.submit(id, i.RenameSession(title="three"))
            assert (await client.events("session_renamed"))[-1]["data"]["title"] == "three"
