"""A record that lies in a database is looked into when it was written to, and not because we looked."""

# spec: E11

import asyncio
import sqlite3
from contextlib import closing

import pytest

from holdfast.agents.terminal import tail
from holdfast.agents.terminal.tail import Bell, Rows
from holdfast.core.ids import Token

QUIET = 20  # times in a row without a look


@pytest.fixture
def agent(tmp_path):
    """An agent's open database, as OpenCode keeps it."""
    with closing(sqlite3.connect(tmp_path / "opencode.db", isolation_level=None)) as db:
        db.execute("pragma journal_mode = wal")
        db.execute("create table event (aggregate_id, seq integer, type, data)")
        yield db


def write(db, seq):
    db.execute("insert into event values ('ses', ?, 'text', '{}')", (seq,))


async def test_looking_is_not_a_reason_to_look_again(agent, tmp_path, monkeypatch):
    looks = []
    real = tail.opencode_events.rows
    monkeypatch.setattr(tail.opencode_events, "rows", lambda *of: looks.append(of) or real(*of))
    bell = Bell()
    bell.watch(tmp_path)
    rows = Rows(tmp_path / "opencode.db", Token("ses"))
    found, quiet = [], 0
    write(agent, 0)
    while quiet < QUIET:
        before = len(looks)
        found += await rows.read()
        quiet = 0 if len(looks) > before else quiet + 1
        await bell.wait(0.02)
    write(agent, 1)
    async with asyncio.timeout(30):
        while len(found) < 2:
            await bell.wait(1)
            found += await rows.read()
    await bell.close()
    assert [end for _, end in found] == [1, 2]
    assert len(looks) <= 2 * 2, "one look for each write, and one for another at the same moment"
