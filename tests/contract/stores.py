"""The two stores as a test sees them: opened, looked at from the side, and spoiled on purpose."""

import contextlib
import itertools
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg

from holdfast.core.ids import Generation, Millis, Seq, SessionId
from holdfast.journal.postgres import PostgresJournal
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports import Batch, Errand, Journal, Lease

TABLES = ("meta", "session", "event", "errand", "snapshot", "blob", "blob_use", "purged")
TTL = 15_000
_numbers = itertools.count(1)


def new_id() -> SessionId:
    return SessionId(f"{next(_numbers):012x}")


class SqliteFile:
    kind = "sqlite"
    event_place = "key = ((select no from session where id = ?) << 32 | ?)"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state" / "journal.db"
        self.path.parent.mkdir(mode=0o700)

    def journal(self) -> SqliteJournal:
        return SqliteJournal(self.path)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Journal]:
        journal = self.journal()
        await journal.open()
        try:
            yield journal
        finally:
            await journal.close()

    def run(self, statement: str, *given: Any) -> list[tuple]:
        """From the side, as another process would."""
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            return db.execute(statement, given).fetchall()

    def everything(self) -> dict[str, list[tuple]]:
        """Each row of each table: what is the same before and after was not written."""
        return {table: self.run(f"select * from {table} order by 1, 2") for table in TABLES}  # noqa: S608

    def clear(self) -> None:
        for table in TABLES[1:]:
            self.run(f"delete from {table}")  # noqa: S608

    def spoil(self, session: str, seq: int, **columns: Any) -> None:
        self._update("event", self.event_place, (session, seq), columns)

    def lose(self, session: str, seq: int) -> None:
        self.run(f"delete from event where {self.event_place}", session, seq)  # noqa: S608

    def spoil_errand(self, id: str, **columns: Any) -> None:
        self._update("errand", "id = ?", (id,), columns)

    def spoil_snapshot(self, session: str, **columns: Any) -> None:
        place = "session = (select no from session where id = ?)"
        self._update("snapshot", place, (session,), columns)

    def spoil_row(self, session: str, **columns: Any) -> None:
        self._update("session", "id = ?", (session,), columns)

    def _update(self, table: str, place: str, given: tuple, columns: dict[str, Any]) -> None:
        changes = ", ".join(f"{name} = ?" for name in columns)
        self.run(f"update {table} set {changes} where {place}", *columns.values(), *given)  # noqa: S608

    def pretend_newer(self) -> None:
        self.run("pragma user_version = 999")

    @contextlib.contextmanager
    def filled(self, journal: Any) -> Iterator[None]:
        """No more pages for the writer."""
        db = journal._writer.db
        [(most,)] = db.execute("pragma max_page_count").fetchall()
        db.execute("pragma max_page_count = 1")  # becomes what it has now
        yield
        db.execute(f"pragma max_page_count = {most}")


class PostgresSchema(SqliteFile):
    kind = "postgres"
    event_place = "session = (select no from session where id = ?) and seq = ?"

    def __init__(self, dsn: str, schema: str) -> None:
        self.dsn, self.schema = dsn, schema

    def journal(self) -> PostgresJournal:
        return PostgresJournal(self.dsn, self.schema)

    def run(self, statement: str, *given: Any) -> list[tuple]:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            db.execute(f"set search_path = {self.schema}")
            cursor = db.execute(statement.replace("?", "%s"), given)
            return cursor.fetchall() if cursor.description else []

    def pretend_newer(self) -> None:
        self.run("insert into schema_version values (999)")

    @contextlib.contextmanager
    def filled(self, journal: Any) -> Iterator[None]:
        """What a server says when its disk is full; nobody else can be made to hit a real one."""
        self.run(
            "create function full_disk() returns trigger language plpgsql as "
            "$$ begin raise exception 'could not extend file' using errcode = '53100'; end $$"
        )
        self.run("create trigger no_room before insert on event execute function full_disk()")
        yield
        self.run("drop trigger no_room on event")


class Writer:
    """Holds a lease and keeps its head, as the engine does."""

    def __init__(self, journal: Journal, lease: Lease) -> None:
        self.journal, self.lease, self.head = journal, lease, lease.head

    @property
    def session(self) -> SessionId:
        return self.lease.session

    def batch(self, *events: Any, **rest: Any) -> Batch:
        given = {
            "session": self.session,
            "generation": self.lease.generation,
            "head": self.head,
            "at": Millis(1000 + self.head),
            "events": events,
        }
        return Batch(**{**given, **rest})

    async def append(self, *events: Any, **rest: Any) -> None:
        await self.journal.append(self.batch(*events, **rest))
        self.head = Seq(self.head + len(events))

    def errand(self, effect: Any, n: int = 0, **rest: Any) -> Errand:
        """Owed by the next event."""
        name = f"{self.session}/{self.head + 1}/{n}"
        return Errand(id=name, session=self.session, effect=effect, **rest)


async def writer(
    journal: Journal, session: str | None = None, *, owner: str = "alice", now: int = 1000
) -> Writer:
    wanted = SessionId(session) if session else new_id()
    return Writer(journal, await journal.claim(wanted, owner, now=Millis(now), ttl=TTL))


def older(lease: Lease) -> Lease:
    return Lease(
        session=lease.session, generation=Generation(lease.generation - 1), head=lease.head
    )
