"""The disk fails: no room, or an error from fsync. Nothing acknowledged may be lost; it mends itself.

Run as a program it is the writer that the tests put on a small or failing disk:

    python -m tests.faults.disk FOLDER COUNT

It appends events one by one, prints `ack SEQ` for each that was acknowledged and `error NAME` for each
that was not, and goes on: every failed write is tried again until it is taken.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.core import events as e
from holdfast.core.ids import Millis, Seq, SessionId
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports import Batch, Lease, StoreDown, StoreFull
from tests.faults.boundaries import Tally
from tests.faults.checks import Verdict
from tests.faults.killing import place

ID = SessionId("e00000000000")
BALLAST, TRACE = "ballast", "trace"
TRIES = 200


async def write(folder: Path, count: int) -> None:
    journal = await _opened(folder)
    lease = await _claim(journal)
    head, tries = lease.head, 0
    while head < count and tries < TRIES:
        text = f"{head + 1} " * 2000
        batch = Batch(
            session=ID,
            generation=lease.generation,
            head=head,
            at=Millis(1),
            events=(e.Notice(kind="n", text=text),),
        )
        try:
            await journal.append(batch)
        except (StoreFull, StoreDown) as error:
            print(f"error {type(error).__name__} {error}", flush=True)
            tries += 1
            (folder / BALLAST).unlink(missing_ok=True)  # somebody makes room
            row = await _head(journal)
            head = row if row is not None else head
        else:
            head = Seq(head + 1)
            print(f"ack {head}", flush=True)
    await journal.close()


async def _opened(folder: Path) -> SqliteJournal:
    """A start that is refused is tried again, as a service manager would."""
    for _ in range(TRIES):
        journal = SqliteJournal(folder / "journal.db")
        try:
            await journal.open()
        except (StoreFull, StoreDown) as error:
            print(f"error {type(error).__name__} {error}", flush=True)
        else:
            return journal
    raise AssertionError("it never starts")


async def _claim(journal: SqliteJournal) -> Lease:
    for _ in range(TRIES):
        try:
            return await journal.claim(ID, "owner", now=Millis(1), ttl=1)
        except (StoreFull, StoreDown) as error:
            print(f"error {type(error).__name__} {error}", flush=True)
    raise AssertionError("no lease to be had")


async def _head(journal: SqliteJournal) -> Seq | None:
    """A failed commit may have been written all the same: the store knows."""
    try:
        row = await journal.row(ID)
    except (StoreFull, StoreDown):
        return None
    return row.head if row else None


def run(folder: Path, count: int, *before: str) -> list[str]:
    command = [*before, sys.executable, "-m", "tests.faults.disk", str(folder), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr[-4000:])
    return done.stdout.splitlines()


def judge(kind: str, folder: Path, lines: list[str], count: int) -> Tally:
    acknowledged = [int(line.split()[1]) for line in lines if line.startswith("ack ")]
    errors = [line for line in lines if line.startswith("error ")]
    trace = folder / TRACE  # a checkpoint that fails is nobody's error, but it did fail
    failed = bool(errors) or (trace.exists() and "INJECTED" in trace.read_text())

    async def look() -> list[int]:
        journal = SqliteJournal(folder / "journal.db")
        await journal.open()
        try:
            return [r.seq for r in await journal.read(ID)]
        finally:
            await journal.close()

    stored = asyncio.run(look())
    found = Verdict([], [], [])
    found.lost.extend(f"P1: {seq} was acknowledged" for seq in set(acknowledged) - set(stored))
    if not failed:
        found.other.append("the disk never failed: this proves nothing")
    if stored != list(range(1, count + 1)):
        found.other.append(f"it did not mend itself: {len(stored)} of {count} events")
    return Tally(kind).plus(0, found)


def no_room() -> Tally:
    """A file system of its own, almost full; the writer makes room at the first failure."""
    with place() as folder, small_disk(folder, "8m"):
        (folder / BALLAST).write_bytes(b"x" * 7_200_000)
        return judge("disk full", folder, run(folder, 60), 60)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Needs root: a real file system with a real end."""
    options = ["-t", "tmpfs", "-o", f"size={size},mode=700"]
    subprocess.run(["mount", *options, "none", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def may_mount() -> bool:
    return os.geteuid() == 0


def failing_sync(when: int) -> Tally:
    """The `when`-th sync of any thread fails with EIO, once."""
    inject = f"inject=fsync,fdatasync:error=EIO:when={when}"
    with place(real_disk=True) as folder:
        trace = ["strace", "-f", "-qqq", "-o", str(folder / TRACE)]
        trace += ["-e", "trace=fsync,fdatasync", "-e", inject]
        run(folder, 0)  # makes the tables while the disk is well
        return judge("sync fails with EIO", folder, run(folder, 60, *trace), 60)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), int(sys.argv[2])))
