"""The journal in SQLite: one writer thread, one file.

A whole transaction is one hop to the thread. What waits while a transaction runs goes into the next
one together, so a hundred sessions share one fsync; a group is FULL if any member must be. The hop
costs as much as half a commit, so when one task alone is writing and the disk is quick, its commit is
done where it stands (docs/decisions/0005); a slow commit or a second writer ends that at once. After a
failure of the disk nothing is acknowledged until the file was closed, opened again, checked, and
found to hold everything that was acknowledged before.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar, cast

from holdfast.core.events import Event
from holdfast.core.ids import BlobId, Millis, Seq, SessionId
from holdfast.core.task import Task
from holdfast.journal import rows
from holdfast.journal.owner import process_dead
from holdfast.journal.replies import Replies, Reply
from holdfast.journal.sqlite_store import BUSY, PAGE, SQL, Busy, SqliteStore, translate
from holdfast.ports import (
    Batch,
    Errand,
    JournalError,
    Lease,
    Recorded,
    Row,
    Snapshot,
    StoreDown,
    Written,
)

T = TypeVar("T")
GROUP = 256  # jobs in one transaction, at most
SOON, AT_LATEST = 56, 192  # frames in the log before a checkpoint: when idle, and in any case
SMALL = 16  # pages: more than this is written by the thread in any case
SLOW = 0.005  # seconds: after a commit that took longer, the loop does not wait for one for a while
CALM = 0.02  # seconds without another writer, after which one task counts as alone
LOOK = 0.25  # seconds between two looks for what other processes write, while somebody watches
REMEMBERED = 4096  # acknowledged heads that are compared after the store was down


class Job(NamedTuple):
    work: Callable[[SqliteStore], Any]
    full: bool
    pages: int  # about how much this adds to the log
    future: asyncio.Future[Any] | None  # None: whoever gave it does it


class SqliteJournal:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write_forever, name="journal", daemon=True)
        self._readers = ThreadPoolExecutor(1, thread_name_prefix="journal-read")
        self._acknowledged: dict[SessionId, int] = {}
        self._frames = 0
        self._open = False
        self._writing = threading.Lock()  # whoever holds it uses the connection
        self._last_writer = 0
        self._crowded_until = self._breath = 0.0
        self.epoch = ""

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._writer: SqliteStore | None = await asyncio.to_thread(self._prepared)
        self._reader = await asyncio.to_thread(SqliteStore, self._path)
        self.epoch = self._writer.epoch
        self._replies = Replies(self._loop)
        self._thread.start()
        self._open = True

    def _prepared(self) -> SqliteStore:
        store: SqliteStore | None = None
        try:
            store = SqliteStore(self._path)
            store.prepare()
        except BaseException as error:
            if store is not None:
                store.close()
            if isinstance(error, sqlite3.Error):
                raise translate(error) from error
            raise
        return store

    async def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        self._replies.close()
        self._readers.shutdown(wait=True)
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    # --- the writer thread ------------------------------------------------------------------------

    def _write_forever(self) -> None:
        while (job := self._jobs.get()) is not None:
            group = [job]
            while len(group) < GROUP and not self._jobs.empty():
                more = self._jobs.get()
                if more is None:
                    self._jobs.put(None)
                    break
                group.append(more)
            group = [j for j in group if j.work is not _nothing]
            with self._writing:
                if group:
                    self._replies.put(self._run(group))
                if self._frames > AT_LATEST or (self._frames > SOON and self._jobs.empty()):
                    self._checkpoint()

    def _run(self, group: list[Job], patience: float = BUSY) -> list[Reply]:
        self._frames += sum(j.pages for j in group)
        try:
            store = self._writer or self._reopened()
            store.begin(full=any(j.full for j in group), patience=patience)
            try:
                replies = self._done(store, group)
                store.db.execute("commit")
            except BaseException:
                store.undo()
                raise
            return replies
        except JournalError as error:
            return [Reply(job.future, None, error) for job in group]
        except sqlite3.Error as error:
            failure = translate(error)
            if isinstance(failure, StoreDown):
                self._fail_stop()
            else:
                self._frames = AT_LATEST + 1  # no room: a log that is moved into its file is reused
            return [Reply(job.future, None, failure) for job in group]
        except Exception as error:  # noqa: BLE001  a fault of ours: whoever waits must hear of it
            return [Reply(job.future, None, error) for job in group]

    def _done(self, store: SqliteStore, group: list[Job]) -> list[Reply]:
        if len(group) == 1:
            return [Reply(group[0].future, group[0].work(store), None)]
        return [self._nested(store, job) for job in group]

    @staticmethod
    def _nested(store: SqliteStore, job: Job) -> Reply:
        """One member of a group: what it did is undone alone if it may not be."""
        store.db.execute("savepoint job")
        try:
            value = job.work(store)
        except Exception as error:  # whoever gave the job hears of it, the others do not
            if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
                raise  # the disk, not the job: nobody's work stands
            store.db.execute("rollback to job")
            store.db.execute("release job")
            return Reply(job.future, None, error)
        store.db.execute("release job")
        return Reply(job.future, value, None)

    def _fail_stop(self) -> None:
        """The kernel may have dropped what it could not write: trust nothing until checked."""
        store, self._writer = self._writer, None
        if store is not None:
            try:
                store.close()
            except sqlite3.Error:
                return

    def _reopened(self) -> SqliteStore:
        store = self._prepared()
        try:
            store.check()
            for session, head in list(self._acknowledged.items()):
                row = store.row(session)
                if row is None and store.purged(session):
                    continue  # by another process
                if row is None or row.head < head:
                    raise StoreDown(
                        f"session {session} was acknowledged up to {head} and the store has "
                        f"{row.head if row else 'nothing'}: restore it from a copy"
                    )
        except BaseException:
            store.close()
            raise
        self._writer, self.epoch = store, store.epoch
        return store

    def _checkpoint(self) -> None:
        try:
            if self._writer is not None:
                self._frames = self._writer.checkpoint()
        except sqlite3.Error:
            self._fail_stop()

    # --- the port ---------------------------------------------------------------------------------

    async def _write(
        self, work: Callable[[SqliteStore], T], *, full: bool = True, pages: int = 3
    ) -> T:
        if not self._open:
            raise StoreDown("the journal is closed")
        if pages < SMALL and self._alone() and self._writing.acquire(blocking=False):
            reply = await self._written_here(Job(work, full, pages, None))
            if reply is not None:
                if reply.error is not None:
                    raise reply.error
                return cast(T, reply.value)
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(Job(work, full, pages, future))
        return await future

    def _alone(self) -> bool:
        """One task writes, nobody waits, and the disk has been quick."""
        now, task = self._loop.time(), id(asyncio.current_task())
        if task != self._last_writer:
            self._last_writer, self._crowded_until = task, max(self._crowded_until, now + CALM)
        return now > self._crowded_until and self._jobs.empty()

    async def _written_here(self, job: Job) -> Reply | None:
        """None: another process is writing; the thread can wait for it, the loop cannot."""
        begun = self._loop.time()
        try:
            replies = self._run([job], patience=0)
        finally:
            self._writing.release()
        if isinstance(replies[0].error, Busy):
            self._crowded_until = begun + 4 * SLOW
            return None
        if self._loop.time() - begun > SLOW:
            self._crowded_until = self._loop.time() + 4 * SLOW
        if self._frames > SOON:
            wake = Job(_nothing, full=False, pages=0, future=None)
            self._jobs.put(wake)  # for a checkpoint
        if begun > self._breath + CALM:  # a task that only writes must not keep the loop to itself
            self._breath = begun
            await asyncio.sleep(0)
        return replies[0]

    async def _read(self, work: Callable[[SqliteStore], T]) -> T:
        if not self._open:
            raise StoreDown("the journal is closed")
        try:
            return await self._loop.run_in_executor(self._readers, work, self._reader)
        except sqlite3.Error as error:
            raise translate(error) from error

    async def append(self, batch: Batch) -> None:
        encoded = rows.event_rows(batch)
        size = sum(len(row[-1]) for row in encoded) + sum(len(b.body) for b in batch.blobs)
        await self._write(
            lambda store: store.append(batch, encoded), full=batch.durable, pages=3 + size // PAGE
        )
        if not batch.durable:
            return  # a power cut may take it, until something durable follows
        self._acknowledged.pop(batch.session, None)
        self._acknowledged[batch.session] = batch.head + len(batch.events)
        if len(self._acknowledged) > REMEMBERED:
            del self._acknowledged[next(iter(self._acknowledged))]

    async def claim(
        self, session: SessionId, owner: str, *, now: Millis, ttl: int, dead: str = ""
    ) -> Lease:
        return await self._write(lambda store: store.claim(session, owner, now, ttl, dead))

    async def renew(
        self, owner: str, leases: Sequence[Lease], *, now: Millis, ttl: int
    ) -> list[SessionId]:
        return await self._write(lambda store: store.renew(owner, leases, now, ttl), full=False)

    async def release(self, lease: Lease) -> None:
        row = (lease.session, lease.generation)
        await self._write(lambda store: store.db.execute(SQL["release"], row), full=False)

    async def purge(self, lease: Lease, *, at: Millis) -> None:
        await self._write(lambda store: store.purge(lease, at), pages=AT_LATEST)
        self._acknowledged.pop(lease.session, None)

    async def purged(self, prefix: str) -> list[tuple[SessionId, Millis]]:
        return await self._read(lambda store: store.purged(prefix))

    async def owner_dead(self, owner: str) -> bool | None:
        return process_dead(owner)

    async def settle(self, errand: Errand) -> None:
        await self._write(lambda store: store.db.execute(SQL["settle"], (errand.id,)))

    async def postpone(self, errand: Errand, *, due: Millis) -> None:
        await self._write(lambda store: store.db.execute(SQL["postpone"], (due, errand.id)))

    async def quarantine(self, session: SessionId, why: str) -> None:
        await self._write(lambda store: store.db.execute(SQL["quarantine"], (why, session)))

    async def rebuild_list(self) -> int:
        return await self._write(SqliteStore.rebuild_list)

    async def read(
        self, session: SessionId, *, after: Seq = Seq(0), limit: int | None = None
    ) -> list[Recorded]:
        return await self._read(lambda store: store.read(session, after, limit))

    async def events(self, session: SessionId, *, after: Seq = Seq(0)) -> list[Event]:
        return await self._read(lambda store: store.events(session, after))

    async def pick(
        self, session: SessionId, kinds: Collection[type], *, after: Seq = Seq(0)
    ) -> list[Recorded]:
        return await self._read(lambda store: store.pick(session, kinds, after))

    async def snapshot(self, session: SessionId) -> Snapshot | None:
        return await self._read(lambda store: store.snapshot(session))

    async def row(self, session: SessionId) -> Row | None:
        return await self._read(lambda store: store.row(session))

    async def rows(
        self, *, limit: int = 100, before: tuple[Millis, SessionId] | None = None
    ) -> list[Row]:
        return await self._read(lambda store: store.rows(limit, before))

    async def live(self) -> list[Row]:
        return await self._read(SqliteStore.live)

    async def find(self, prefix: str) -> list[SessionId]:
        return await self._read(lambda store: store.find(prefix))

    async def owed(self, session: SessionId | None = None) -> list[Errand]:
        return await self._read(lambda store: store.owed(session))

    async def blob(self, id: BlobId) -> bytes | None:
        return await self._read(lambda store: store.blob(id))

    @contextlib.asynccontextmanager
    async def changes(self) -> AsyncIterator[AsyncIterator[Written | None]]:
        yield self._heard()

    async def _heard(self) -> AsyncIterator[Written | None]:
        """Asked of the connection that writes: it counts what all others write, and not itself."""
        known = await self._loop.run_in_executor(self._readers, self._version)
        while self._open:
            await asyncio.sleep(LOOK)
            found = await self._loop.run_in_executor(self._readers, self._version)
            changed = found is not None and found != known
            known = found if changed else known
            yield Written() if changed else None
        raise StoreDown("the journal is closed")

    def _version(self) -> int | None:
        """None: it is in use, and nobody waits for it just to look."""
        if not self._writing.acquire(blocking=False):
            return None
        try:
            store = self._writer
            return None if store is None else store.version_of_others()
        except sqlite3.Error:
            return None
        finally:
            self._writing.release()

    async def put_task(self, task: Task) -> None:
        await self._write(lambda store: store.put_task(task))

    async def tasks(self) -> list[Task]:
        return await self._read(SqliteStore.tasks)


def _nothing(_store: SqliteStore) -> None:
    return
