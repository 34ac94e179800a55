"""The journal in PostgreSQL: several hosts share one store.

Rule 1: one connection writes, one reads, and one does nothing but live: it holds an advisory lock
        under the owner's name. The server frees it within a tenth of a second of the process's
        death, so the others know at once; when a machine or a network dies, the lease runs out.
Rule 2: what broke is said once. The write that finds a connection broken, or that the lock was lost,
        raises `StoreDown`; the next one connects again, takes the lock again, and goes on only if
        the store has everything that was acknowledged before.
Rule 3: whoever is cancelled while a write is under way stops waiting; the write stands.
Rule 4: a lease is compared with the `now` that the caller passes, as in SQLite. Hosts that share a
        store should pass the server's time: `server_now` is there to make a clock of.

Needs direct connections: a pooler that lends one out per transaction breaks rule 1.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import sql

from holdfast.core.events import Event
from holdfast.core.ids import BlobId, Millis, Seq, SessionId
from holdfast.core.task import Task
from holdfast.journal import postgres_store as store
from holdfast.journal import rows
from holdfast.journal.codec import tags_of
from holdfast.journal.postgres_store import SQL, Connection, translate
from holdfast.ports import Batch, Errand, Lease, Recorded, Row, Snapshot, StoreDown, Written

T = TypeVar("T")
START, EVER = Seq(0), 1 << 62
MOMENT = 1.0  # seconds after which whoever listens may look around
REMEMBERED = 4096  # acknowledged heads that are compared after the store was down


@contextlib.contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise translate(error) from error


class PostgresJournal:
    def __init__(self, dsn: str, schema: str = "holdfast") -> None:
        self._dsn, self._schema = dsn, schema
        self._turn = asyncio.Lock()  # of the writer
        self._looking = asyncio.Lock()  # while the reader connects
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._guard: Connection | None = None
        self._standing: set[str] = set()  # owners whose lock the guard holds
        self._watched: int | None = None  # the guard's file descriptor, while we listen to it
        self._fallen = ""  # why the guard is no use any more
        self._acknowledged: dict[SessionId, int] = {}
        self._under_way: set[asyncio.Future[Any]] = set()
        self._open = False
        self.epoch = ""

    async def open(self) -> None:
        self._open = True
        try:
            async with self._turn:
                await self._at_work()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        self._open = False
        while self._under_way:
            await asyncio.wait(self._under_way)
        async with self._turn, self._looking:
            self._unwatch()
            for db in (self._writer, self._reader, self._guard):
                if db is not None:
                    await db.close()
            self._writer = self._reader = self._guard = None
            self._standing.clear()

    # --- connections ------------------------------------------------------------------------------

    async def _write(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        if not self._open:
            raise StoreDown("the journal is closed")
        task = asyncio.ensure_future(self._alone(work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _alone(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async with self._turn:
            db = await self._at_work()
            try:
                return await work(db)
            except psycopg.DataError:
                raise  # a value that no column takes: a fault of ours, the store is well
            except psycopg.Error as error:
                failure = translate(error)
                if isinstance(failure, StoreDown):
                    await self._put_down()
                raise failure from error

    async def _at_work(self) -> Connection:
        """The writer, with its guard standing. Connects where it must."""
        if self._fallen:
            why, told = self._fallen, self._writer is None
            await self._put_down()
            if not told:
                raise StoreDown(f"the journal's lock was lost: {why}")
        try:
            if self._guard is None:
                await self._raise_guard()
            if self._writer is None:
                self._writer = await self._reopened()
        except psycopg.Error as error:
            await self._put_down()
            raise translate(error) from error
        return self._writer

    async def _reopened(self) -> Connection:
        db = await store.connect(self._dsn, self._schema)
        try:
            self.epoch = await store.prepare(db, self._schema)
            await store.check_heads(db, self._acknowledged)
        except BaseException:
            await db.close()
            raise
        return db

    async def _put_down(self) -> None:
        """The writer is dropped; the guard only if it is broken too, for others look at it."""
        writer, self._writer = self._writer, None
        if writer is not None:
            await writer.close()
        guard = self._guard
        if guard is not None and (self._fallen or guard.closed):
            self._unwatch()
            self._guard, self._fallen = None, ""
            await guard.close()

    # --- the guard: idle, so whatever comes from it is bad news -----------------------------------

    async def stand(self, owner: str) -> None:
        """From now on, and until this journal closes or its process dies, this owner lives."""
        await self._write(lambda _: self._stand(owner))

    async def _stand(self, owner: str) -> None:
        if owner not in self._standing and self._guard is not None:
            self._unwatch()  # the driver listens for itself
            try:
                await store.one(self._guard, "stand", key=store.key(self._schema, owner))
            finally:
                self._watch(self._guard)
            self._standing.add(owner)

    async def _raise_guard(self) -> None:
        """Takes again whatever locks an earlier one held."""
        guard = await store.connect(self._dsn, self._schema)
        try:
            for owner in self._standing:
                await store.one(guard, "stand", key=store.key(self._schema, owner))
        except BaseException:
            await guard.close()
            raise
        self._guard = guard
        self._watch(guard)

    def _watch(self, guard: Connection) -> None:
        if not guard.closed:
            self._watched = guard.fileno()
            asyncio.get_running_loop().add_reader(self._watched, self._guard_spoke, guard)

    def _unwatch(self) -> None:
        """By the number we remember: a broken connection has none any more."""
        if self._watched is not None:
            asyncio.get_running_loop().remove_reader(self._watched)
            self._watched = None

    def _guard_spoke(self, guard: Connection) -> None:
        try:
            guard.pgconn.consume_input()
        except psycopg.Error as error:
            self._unwatch()
            self._fallen = " ".join(str(error).split()) or "its connection broke"

    async def owner_dead(self, owner: str) -> bool | None:
        """Also true of one that never stood: its leases are nobody's."""
        found = await self._look("standing", key=store.key(self._schema, owner))
        return not found[0][0]

    # --- reading ------------------------------------------------------------------------------------

    async def _look(self, name: str, **given: object) -> list[tuple[Any, ...]]:
        """Text holds no NUL: what is asked for by a name with one is not there. Asked again if the
        connection was broken: a question does no harm."""
        if any(isinstance(value, str) and "\0" in value for value in given.values()):
            return []
        with translated():
            try:
                return await store.every(await self._ear(), name, **given)
            except psycopg.OperationalError:
                return await store.every(await self._ear(), name, **given)

    async def _ear(self) -> Connection:
        async with self._looking:
            if not self._open:
                raise StoreDown("the journal is closed")
            if self._reader is None or self._reader.closed:
                self._reader = await store.connect(self._dsn, self._schema)
            return self._reader

    # --- the port: writing --------------------------------------------------------------------------

    async def append(self, batch: Batch) -> None:
        given = await store.parameters(batch, self._schema)
        await self._write(lambda db: store.append(db, batch, given))
        if batch.durable:  # what is not may be lost by the server's crash, and that is all right
            self._acknowledged.pop(batch.session, None)
            self._acknowledged[batch.session] = batch.head + len(batch.events)
            if len(self._acknowledged) > REMEMBERED:
                del self._acknowledged[next(iter(self._acknowledged))]

    async def claim(
        self, session: SessionId, owner: str, *, now: Millis, ttl: int, dead: str = ""
    ) -> Lease:
        wanted = {"id": session, "owner": owner, "now": now, "until": now + ttl, "dead": dead}

        async def work(db: Connection) -> Lease:
            await self._stand(owner)  # before it owns anything: nobody may think it dead
            return await store.claim(db, wanted)

        return await self._write(work)

    async def renew(
        self, owner: str, leases: Sequence[Lease], *, now: Millis, ttl: int
    ) -> list[SessionId]:
        return await self._write(lambda db: store.renew(db, owner, leases, now, ttl))

    async def release(self, lease: Lease) -> None:
        await self._do("release", id=lease.session, generation=lease.generation)

    async def purge(self, lease: Lease, *, at: Millis) -> None:
        await self._write(lambda db: store.purge(db, lease, at))
        self._acknowledged.pop(lease.session, None)

    async def settle(self, errand: Errand) -> None:
        await self._do("settle", id=errand.id)

    async def postpone(self, errand: Errand, *, due: Millis) -> None:
        await self._do("postpone", id=errand.id, due=due)

    async def quarantine(self, session: SessionId, why: str) -> None:
        await self._write(lambda db: store.quarantine(db, session, why))

    async def put_task(self, task: Task) -> None:
        await self._do("put_task", id=task.id, at=task.created_at, body=rows.to_json(task))

    async def rebuild_list(self) -> int:
        return await self._write(store.rebuild_list)

    async def _do(self, name: str, **given: object) -> None:
        await self._write(lambda db: db.execute(SQL[name], given))

    # --- the port: reading --------------------------------------------------------------------------

    async def read(
        self, session: SessionId, *, after: Seq = START, limit: int | None = None
    ) -> list[Recorded]:
        found = await self._look("read", id=session, after=after, limit=limit)
        return store.history(session, found, after, limit)

    async def events(self, session: SessionId, *, after: Seq = Seq(0)) -> list[Event]:
        return [r.event for r in await self.read(session, after=after)]

    async def pick(
        self, session: SessionId, kinds: Collection[type], *, after: Seq = START
    ) -> list[Recorded]:
        found = await self._look("pick", id=session, after=after, tags=tags_of(kinds))
        return rows.picked(session, found)

    async def snapshot(self, session: SessionId) -> Snapshot | None:
        found = await self._look("snapshot", id=session)
        return rows.snapshot(found[0] if found else None)

    async def row(self, session: SessionId) -> Row | None:
        found = await self._look("row", id=session)
        return rows.list_row(found[0]) if found else None

    async def rows(
        self, *, limit: int = 100, before: tuple[Millis, SessionId] | None = None
    ) -> list[Row]:
        at, last = before or (EVER, "")
        found = await self._look("rows", at=at, id=last, limit=limit)
        return [rows.list_row(row) for row in found]

    async def live(self) -> list[Row]:
        return [rows.list_row(row) for row in await self._look("live")]

    async def find(self, prefix: str) -> list[SessionId]:
        found = await self._look("find", low=prefix, high=prefix + "\U0010ffff")
        return [SessionId(row[0]) for row in found]

    async def purged(self, prefix: str) -> list[tuple[SessionId, Millis]]:
        found = await self._look("purged", low=prefix, high=prefix + "\U0010ffff")
        return [(SessionId(id), Millis(at)) for id, at in found]

    async def owed(self, session: SessionId | None = None) -> list[Errand]:
        if session is None:
            return [rows.errand(row) for row in await self._look("owed")]
        return [rows.errand(row) for row in await self._look("owed_by", id=session)]

    async def blob(self, id: BlobId) -> bytes | None:
        found = await self._look("blob", id=id)
        return await asyncio.to_thread(rows.unpack, found[0][0]) if found else None

    async def tasks(self) -> list[Task]:
        return rows.tasks(await self._look("tasks"))

    # --- what only a server can do ------------------------------------------------------------------

    async def server_now(self) -> Millis:
        """The one clock that all hosts share."""
        return Millis((await self._look("server_now"))[0][0])

    @contextlib.asynccontextmanager
    async def changes(self) -> AsyncIterator[AsyncIterator[Written | None]]:
        with translated():
            db = await store.connect(self._dsn, self._schema)
            try:
                await db.execute(sql.SQL("listen {}").format(sql.Identifier(self._schema)))
                yield self._heard(db)
            finally:
                await db.close()

    async def _heard(self, db: Connection) -> AsyncIterator[Written | None]:
        while True:
            with translated():
                async for news in db.notifies(timeout=MOMENT):
                    yield Written(session=SessionId(news.payload.partition(" ")[0]))
            yield None
