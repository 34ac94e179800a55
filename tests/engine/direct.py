"""The SQLite journal without its thread, and a process that can lose its power at any await.

Everything happens on the event loop that the machine owns, in an order that depends on nothing but
the machine's choices: a failure can be replayed.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from holdfast.core.events import Event
from holdfast.core.ids import BlobId, Millis, Seq, SessionId
from holdfast.journal import rows
from holdfast.journal.sqlite_store import SQL, SqliteStore
from holdfast.ports import Batch, Errand, Lease, Recorded, Row, Snapshot

R = TypeVar("R")


class Life:
    """One process. Once dead, nothing of it reaches the journal or the world any more."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.engine: Any = None
        self.outbox: Any = None
        self.dead = False
        self.fuse: int | None = None  # boundaries until the power goes
        self.passed = 0
        self._buried = False
        self._thawed = asyncio.Event()
        self._thawed.set()
        self._over = asyncio.Event()
        self.tasks: set[asyncio.Task[Any]] = set()

    async def boundary(self) -> None:
        """Here the power may go, and here a process that stands still stands."""
        self.passed += 1
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                self.die()
        await self._thawed.wait()
        if self._buried:
            raise asyncio.CancelledError
        if self.dead:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        if self.dead:  # it went while others had their turn
            await self.boundary()

    def die(self) -> None:
        self.dead = True
        self.fuse = None
        self._over.set()

    def freeze(self) -> None:
        self._thawed.clear()

    def thaw(self) -> None:
        self._thawed.set()

    @property
    def frozen(self) -> bool:
        return not self._thawed.is_set()

    def spawn(self, work: Coroutine[Any, Any, R]) -> asyncio.Task[R]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def finish(self, task: asyncio.Task[R]) -> bool:
        """True when the task is done; False when the power went first."""
        over = asyncio.ensure_future(self._over.wait())
        await asyncio.wait({task, over}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        return task.done() and not task.cancelled()

    async def bury(self) -> None:
        """Takes everything out of memory. Nothing is written on the way."""
        self.die()
        self._buried = True
        self._thawed.set()
        clockwork = [self.outbox._clockwork] if self.outbox._clockwork else []
        tasks = [*self.tasks, *self.outbox._workers.values(), *clockwork]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class DirectJournal:
    def __init__(self, path: Path, life: Life, dead: set[str]) -> None:
        self._store = SqliteStore(path)
        self._life, self._dead = life, dead
        self.epoch = ""
        self.leases: list[tuple[int, str]] = []

    async def open(self) -> None:
        self._store.prepare()
        self.epoch = self._store.epoch

    async def close(self) -> None:
        self._store.close()

    async def _write(self, work: Callable[[SqliteStore], R]) -> R:
        await self._life.boundary()
        with self._store.transaction(full=False):
            value = work(self._store)
        await self._life.boundary()
        return value

    async def _read(self, work: Callable[[SqliteStore], R]) -> R:
        await self._life.boundary()
        return work(self._store)

    async def append(self, batch: Batch) -> None:
        await self._write(lambda store: store.append(batch, rows.event_rows(batch)))

    async def claim(
        self, session: SessionId, owner: str, *, now: Millis, ttl: int, dead: str = ""
    ) -> Lease:
        lease = await self._write(lambda store: store.claim(session, owner, now, ttl, dead))
        self.leases.append((lease.generation, owner))
        return lease

    async def renew(
        self, owner: str, leases: Sequence[Lease], *, now: Millis, ttl: int
    ) -> list[SessionId]:
        return await self._write(lambda store: store.renew(owner, leases, now, ttl))

    async def release(self, lease: Lease) -> None:
        row = (lease.session, lease.generation)
        await self._write(lambda store: store.db.execute(SQL["release"], row))

    async def owner_dead(self, owner: str) -> bool | None:
        return owner in self._dead or None

    async def settle(self, errand: Errand) -> None:
        await self._write(lambda store: store.db.execute(SQL["settle"], (errand.id,)))

    async def postpone(self, errand: Errand, *, due: Millis) -> None:
        await self._write(lambda store: store.db.execute(SQL["postpone"], (due, errand.id)))

    async def quarantine(self, session: SessionId, why: str) -> None:
        await self._write(lambda store: store.db.execute(SQL["quarantine"], (why, session)))

    async def read(
        self, session: SessionId, *, after: Seq = Seq(0), limit: int | None = None
    ) -> list[Recorded]:
        return await self._read(lambda store: store.read(session, after, limit))

    async def events(self, session: SessionId, *, after: Seq = Seq(0)) -> list[Event]:
        return await self._read(lambda store: store.events(session, after))

    async def snapshot(self, session: SessionId) -> Snapshot | None:
        return await self._read(lambda store: store.snapshot(session))

    async def row(self, session: SessionId) -> Row | None:
        return await self._read(lambda store: store.row(session))

    async def live(self) -> list[Row]:
        return await self._read(SqliteStore.live)

    async def owed(self, session: SessionId | None = None) -> list[Errand]:
        return await self._read(lambda store: store.owed(session))

    async def blob(self, id: BlobId) -> bytes | None:
        return await self._read(lambda store: store.blob(id))
