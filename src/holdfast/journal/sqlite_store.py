"""SQLite, without threads: what one connection does. sqlite.py puts it on its own thread.

One file, write-ahead log. A write that must survive a power cut is committed with synchronous=FULL,
streamed text with NORMAL; switching costs 2 us outside a transaction. Checkpoints are our own, after
the reply, so that the log stays small and nobody waits for it.
"""

import contextlib
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from holdfast.core.events import Event
from holdfast.core.evolve import rebuild
from holdfast.core.ids import BlobId, Generation, Millis, Seq, SessionId
from holdfast.core.task import Task
from holdfast.journal import rows
from holdfast.journal.codec import encode, tags_of
from holdfast.journal.queries import load, migrations
from holdfast.ports import (
    Batch,
    Conflict,
    Damaged,
    Doubled,
    Errand,
    Held,
    Lease,
    NewerStore,
    Recorded,
    Row,
    Snapshot,
    StoreDown,
    StoreFull,
)
from holdfast.views.sessions import summary

SQL = load("sqlite")
PAGE = 16384
EVER = 1 << 62
NUMBERS = 10_000  # of sessions, remembered
PURGE = (
    "purge_blobs",
    "purge_uses",
    "purge_events",
    "purge_errands",
    "purge_snapshot",
    "purge_row",
)
BUSY = 10.0  # seconds that another process's transaction is waited for
T = TypeVar("T")


def check_folder(folder: Path) -> None:
    """The state folder is the user's alone: it holds everything the agents saw."""
    if not folder.is_dir():
        raise StoreDown(f"the state folder {folder} is missing: create it with mode 700")
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        raise StoreDown(
            f"the state folder {folder} is open to others (mode {mode:o}): chmod 700 it"
        )


def connect(path: Path) -> sqlite3.Connection:
    check_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    db.execute(f"pragma page_size = {PAGE}")
    db.execute("pragma journal_mode = wal")
    db.execute("pragma wal_autocheckpoint = 0")
    db.execute("pragma journal_size_limit = 1048576")
    db.execute("pragma synchronous = full")
    db.execute("pragma foreign_keys = off")
    return db


class Busy(StoreDown):
    """Only somebody else's turn: the connection is as good as before."""


def translate(error: sqlite3.Error) -> Exception:
    """What a failure means for whoever waits for the write."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_FULL",)):
        return StoreFull(f"no room for the journal: {error}")
    return StoreDown(f"the journal cannot be used: {error} ({name or type(error).__name__})")


class SqliteStore:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = connect(path)
        self.epoch = ""
        self._numbers: dict[SessionId, int] = {}
        self.full = True  # the current synchronous setting

    def prepare(self) -> None:
        """Brings the schema up to date, or refuses a store from the future."""
        steps = migrations("sqlite")
        if self._version() < steps[-1][0]:
            with self.transaction(full=True):  # looked at again inside: others may be starting too
                have = self._version()
                for number, script in steps:
                    for statement in script.split(";\n") if number > have else ():
                        self.db.execute(statement)
                self.db.execute(f"pragma user_version = {steps[-1][0]}")
        if self._version() > steps[-1][0]:
            raise NewerStore(
                f"{self.path} was written by a later version of Holdfast (schema {self._version()},"
                f" this one knows {steps[-1][0]}); nothing was changed: use that version"
            )
        self.epoch = self._epoch()
        self.db.execute("pragma busy_timeout = 0")  # from here on `_begin` waits

    def _version(self) -> int:
        return int(self.db.execute("pragma user_version").fetchone()[0])

    def _epoch(self) -> str:
        """A file put back from a copy is another history: cursors into the first must not match.

        Each opening is counted in the file and beside it. A file that counts less than what stands
        beside it is an earlier one, put back; one with nothing beside it came from elsewhere.
        """
        beside = self.path.with_name(f"{self.path.name}-opened")
        known = beside.read_text() if beside.exists() else ""
        with self.transaction(full=True):
            meta = self._meta()
            count = int(meta.get("opened", 0))
            if not known.isdigit() or count < int(known) or "epoch" not in meta:
                meta["epoch"] = secrets.token_hex(6)
            meta["opened"] = str(max(count, int(known) if known.isdigit() else 0) + 1)
            self.db.executemany(SQL["put_meta"], meta.items())
        fresh = beside.with_name(f"{beside.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            fresh.touch(0o600)
            fresh.write_text(meta["opened"])
            fresh.replace(beside)
        except OSError:  # no room: a count that lags behind does no harm
            fresh.unlink(missing_ok=True)
        return meta["epoch"]

    def _meta(self) -> dict[str, str]:
        return dict(self.db.execute(SQL["meta"]))

    # --- writing: inside a transaction that the caller opened ---------------------------------

    @contextlib.contextmanager
    def transaction(self, *, full: bool) -> Any:
        self.begin(full=full)
        try:
            yield
            self.db.execute("commit")
        except BaseException:
            self.undo()
            raise

    def begin(self, *, full: bool, patience: float = BUSY) -> None:
        if full != self.full:
            self.db.execute(f"pragma synchronous = {'full' if full else 'normal'}")
            self.full = full
        self._begin(patience)

    def undo(self) -> None:
        if self.db.in_transaction:
            self.db.execute("rollback")

    def _begin(self, patience: float) -> None:
        """Another process may be writing. Whoever cannot wait says so, and is told `Busy`."""
        deadline = time.monotonic() + patience
        while True:
            try:
                self.db.execute("begin immediate")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                if time.monotonic() >= deadline:
                    raise Busy(f"{self.path} is being written by another process") from error
                time.sleep(0.001)
            else:
                return

    def append(self, batch: Batch, events: list[rows.EventRow]) -> None:
        number = self._fence(batch)
        high = number << 32
        try:
            self.db.executemany(SQL["append_event"], [(high | seq, *rest) for seq, *rest in events])
            if batch.errands:
                self._owe(batch.errands, number)
        except sqlite3.IntegrityError as error:
            raise self._doubled(batch) from error
        for id in batch.settled:
            self.db.execute(SQL["settle"], (id,))
        for blob in batch.blobs:
            self.db.execute(SQL["put_blob"], (blob.id, len(blob.body), rows.pack(blob.body)))
        for used in rows.blobs_used(batch):
            self.db.execute(SQL["use_blob"], (number, used))
        if batch.snapshot is not None:
            body = rows.to_json(batch.snapshot)
            self.db.execute(
                SQL["put_snapshot"], (number, batch.snapshot.seq, rows.SNAPSHOT_VERSION, body)
            )

    def _fence(self, batch: Batch) -> int:
        number = self._numbers.get(batch.session) or self._number(batch.session)
        found = self.db.execute(SQL["fence"], (number, batch.session)).fetchone()
        if found != (batch.head, batch.generation):
            raise rows.why_refused(batch, found)
        seen = batch.summary
        if seen is not None or batch.release:
            listed = (None, None) if seen is None else (seen.live, rows.to_json(seen))
            head = batch.head + len(batch.events)
            self.db.execute(SQL["list"], (head, batch.at, *listed, batch.release, number))
        return number

    def _number(self, session: SessionId) -> int:
        """Never changes: looked up once. 0: there is no such session."""
        found = self.db.execute(SQL["number"], (session,)).fetchone()
        if found is None:
            return 0
        if len(self._numbers) > NUMBERS:
            self._numbers.clear()
        return self._numbers.setdefault(session, int(found[0]))

    def _doubled(self, batch: Batch) -> Exception:
        """Inside the transaction that failed: its own events after `head` do not count."""
        names = [name for name in batch.identities if name is not None]
        for n, name in enumerate(names):
            if name in names[:n] or self.has(batch.session, name, upto=batch.head):
                return Doubled(batch.session, name)
        return Conflict(f"session {batch.session}: what follows {batch.head} exists already")

    def _owe(self, errands: Sequence[Errand], number: int) -> None:
        for errand in errands:
            _, seq, n = errand.id.rsplit("/", 2)
            row = (errand.id, number, int(seq), int(n), *encode(errand.effect), errand.due)
            self.db.execute(SQL["append_errand"], row)

    def claim(self, session: SessionId, owner: str, now: int, ttl: int, dead: str) -> Lease:
        self.db.execute(SQL["create"], (session, now, now))
        no, head, generation, holder, until, why = self.db.execute(
            SQL["lease"], (session,)
        ).fetchone()
        if why:
            raise Damaged(session, head, f"quarantined: {why}")
        if until > now and holder not in (owner, dead):
            raise Held(session, holder, Millis(until))
        self.db.execute(SQL["claim"], (owner, now + ttl, no, generation))
        return Lease(session=session, generation=Generation(generation + 1), head=Seq(head))

    def renew(self, owner: str, leases: Sequence[Lease], now: int, ttl: int) -> list[SessionId]:
        lost = []
        for lease in leases:
            row = (now + ttl, lease.session, lease.generation, owner)
            if self.db.execute(SQL["renew"], row).rowcount != 1:
                lost.append(lease.session)
        return lost

    def purge(self, lease: Lease, at: int) -> None:
        """Written over, not only let go: what is removed for good must not be found in the file."""
        found = self.db.execute(SQL["number"], (lease.session,)).fetchone()
        held = found and self.db.execute(SQL["fence"], (found[0], lease.session)).fetchone()
        if not held or held[1] != lease.generation:
            raise rows.why_refused(lease, held)
        self.db.execute("pragma secure_delete = on")
        try:
            for step in PURGE:
                self.db.execute(SQL[step], (found[0],))
        finally:
            self.db.execute("pragma secure_delete = off")
        self.db.execute(SQL["put_purged"], (lease.session, at))
        self._numbers.pop(lease.session, None)

    def rebuild_list(self) -> int:
        found = self.db.execute(SQL["all_sessions"]).fetchall()
        for number, id in found:
            try:
                events: list[Event] = [r.event for r in self.read(id, 0, None)]
            except Damaged as error:
                self.db.execute(SQL["quarantine"], (str(error), id))
                continue
            seen = summary(rebuild(id, events))
            self.db.execute(SQL["put_summary"], (rows.to_json(seen), seen.live, number))
        return len(found)

    # --- reading --------------------------------------------------------------------------------

    def has(self, session: SessionId, identity: str, *, upto: int) -> bool:
        return self.db.execute(SQL["has"], (session, identity, upto)).fetchone() is not None

    def read(self, session: SessionId, after: int, limit: int | None) -> list[Recorded]:
        number = self.db.execute(SQL["number"], (session,)).fetchone()
        if number is None:
            return []
        high, head = number[0] << 32, number[1]
        found = self.db.execute(
            SQL["read"], (high | after, high | head, -1 if limit is None else limit)
        ).fetchall()
        return rows.history(session, found, head=head, after=after, limit=limit)

    def events(self, session: SessionId, after: int) -> list[Event]:
        number = self.db.execute(SQL["number"], (session,)).fetchone()
        if number is None:
            return []
        high, head = number[0] << 32, number[1]
        found = self.db.execute(SQL["events"], (high | after, high | head))
        events = rows.events(found, max(head - after, 0))
        found.close()  # half read, it would hold on to this moment of the store
        return events if events is not None else [r.event for r in self.read(session, after, None)]

    def pick(self, session: SessionId, kinds: Collection[type], after: int) -> list[Recorded]:
        number = self.db.execute(SQL["number"], (session,)).fetchone()
        if number is None:
            return []
        high, head = number[0] << 32, number[1]
        tags = rows.to_json(tags_of(kinds)).decode()
        found = self._every("pick", high | after, high | head, tags)
        return rows.picked(session, found)

    def snapshot(self, session: SessionId) -> Snapshot | None:
        return rows.snapshot(self.db.execute(SQL["snapshot"], (session,)).fetchone())

    def row(self, session: SessionId) -> Row | None:
        found = self.db.execute(SQL["row"], (session,)).fetchone()
        return rows.list_row(found) if found else None

    def rows(self, limit: int, before: tuple[int, str] | None) -> list[Row]:
        at, id = before or (EVER, "")
        return [rows.list_row(r) for r in self._every("rows", at, id, limit)]

    def live(self) -> list[Row]:
        return [rows.list_row(r) for r in self._every("live")]

    def find(self, prefix: str) -> list[SessionId]:
        found = self.db.execute(SQL["find"], (prefix, prefix + "\U0010ffff"))
        return [SessionId(id) for (id,) in found]

    def purged(self, prefix: str) -> list[tuple[SessionId, Millis]]:
        found = self._every("purged", prefix, prefix + "\U0010ffff")
        return [(SessionId(id), Millis(at)) for id, at in found]

    def owed(self, session: SessionId | None) -> list[Errand]:
        if session is None:
            return [rows.errand(r) for r in self._every("owed")]
        return [rows.errand(r) for r in self._every("owed_by", session)]

    def _every(self, name: str, *given: object) -> list[tuple[Any, ...]]:
        """All at once: a cursor left half read by a row that raises would hold the reader in the past."""
        return self.db.execute(SQL[name], given).fetchall()

    def blob(self, id: BlobId) -> bytes | None:
        found = self.db.execute(SQL["blob"], (id,)).fetchone()
        return rows.unpack(found[0]) if found else None

    def put_task(self, task: Task) -> None:
        self.db.execute(SQL["put_task"], (task.id, task.created_at, rows.to_json(task)))

    def tasks(self) -> list[Task]:
        return rows.tasks(self._every("tasks"))

    def version_of_others(self) -> int:
        """Another number as soon as another connection has written."""
        return int(self.db.execute("pragma data_version").fetchone()[0])

    def checkpoint(self) -> int:
        """Moves the log into the file. Returns the frames that are still only in the log."""
        _, log, done = self.db.execute("pragma wal_checkpoint(passive)").fetchone()
        return int(log - done)

    def check(self) -> None:
        """After trouble with the disk: is what is there still whole?"""
        answer = self.db.execute("pragma quick_check(1)").fetchone()[0]
        if answer != "ok":
            raise StoreDown(f"{self.path} is damaged: {answer}")

    def close(self) -> None:
        self.db.close()
