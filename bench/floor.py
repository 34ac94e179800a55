"""The floor: what SQLite itself asks for one fenced, durable step.

Hand-written SQL, the standard library's driver, the caller's own thread: no store that
keeps the same promise on SQLite can be much faster. WAL, synchronous=FULL, and for the
rest SQLite's defaults. One step is one transaction: the fenced update of the session,
the message, and a small second row for what the message owes.
"""

import json
import sqlite3
from pathlib import Path

from bench.measure import folder_bytes
from bench.workload import Message

SESSION, GENERATION = 1, 1

SCHEMA = """
CREATE TABLE session (id INTEGER PRIMARY KEY, head INTEGER NOT NULL, generation INTEGER NOT NULL);
CREATE TABLE event (id INTEGER PRIMARY KEY, tag TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE errand (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, tag TEXT NOT NULL);
INSERT INTO session VALUES (1, 0, 1);
"""
FENCE = "UPDATE session SET head = ? WHERE id = ? AND head = ? AND generation = ?"
EVENT = "INSERT INTO event (id, tag, body) VALUES (?, 'message', ?)"
ERRAND = "INSERT INTO errand (id, session, tag) VALUES (?, ?, 'tell')"


class Floor:
    """One session in one file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._head = 0
        # Transactions are written out below; the driver must not open its own.
        self._db = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(SCHEMA)

    def step(self, message: Message) -> None:
        """Durable when it returns."""
        body = json.dumps({"role": message.role, "text": message.text})
        seq = self._head + 1
        run = self._db.execute
        run("BEGIN IMMEDIATE")
        if run(FENCE, (seq, SESSION, self._head, GENERATION)).rowcount != 1:
            run("ROLLBACK")
            raise RuntimeError("the floor lost its fence")
        run(EVENT, (SESSION << 32 | seq, body))
        run(ERRAND, (SESSION << 32 | seq, SESSION))
        run("COMMIT")
        self._head = seq

    def bytes_on_disk(self) -> int:
        """Database and WAL, live."""
        return folder_bytes(self._folder)

    def close(self) -> None:
        """Also moves the WAL into the database."""
        self._db.close()
