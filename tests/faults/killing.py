"""Processes that are killed for real. Imports are done once; each life is a fork of this process."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.core.ids import SessionId
from holdfast.engine.engine import LEASE
from holdfast.journal.postgres import PostgresJournal
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports import Journal
from tests.faults.checks import Verdict, examine
from tests.faults.scenario import live_once

LIMIT = 120.0  # seconds that a life may take; more is a hang, and a failure
MakeJournal = Callable[[Path], Journal]


def sqlite_in(folder: Path) -> Journal:
    return SqliteJournal(folder / "journal.db")


def postgres_at(dsn: str) -> MakeJournal:
    """One schema for each state folder."""
    return lambda folder: PostgresJournal(dsn, folder.name.replace("-", "_").lower())


@contextlib.contextmanager
def place(*, real_disk: bool = False) -> Iterator[Path]:
    """A state folder: in memory for the counted runs, on the disk for some."""
    where = "/var/tmp" if real_disk or not Path("/dev/shm").is_dir() else "/dev/shm"
    folder = Path(tempfile.mkdtemp(prefix="holdfast-faults-", dir=where))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


Point = int | str | None  # the k-th boundary, the first one of that name, or none


class Trap:
    """Counts boundaries and kills this very process at the one it was set for."""

    def __init__(self, folder: Path, at: Point, signal_: int = signal.SIGKILL) -> None:
        self._at, self._n, self._signal = at, 0, signal_
        self._file = os.open(folder / "seen", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __call__(self, name: str) -> None:
        if self._at in (self._n, name):
            os.write(self._file, f"killed {name}\n".encode())
            os.kill(os.getpid(), self._signal)
        os.write(self._file, f"passed {name}\n".encode())
        self._n += 1


def seen(folder: Path, kind: str) -> list[str]:
    lines = (folder / "seen").read_text().splitlines() if (folder / "seen").exists() else []
    return [name for how, _, name in (line.partition(" ") for line in lines) if how == kind]


def start(
    make: MakeJournal,
    folder: Path,
    ids: list[SessionId],
    *,
    kill_at: Point,
    shared: bool = False,
    lease: int = LEASE,
    with_signal: int = signal.SIGKILL,
) -> int:
    """Forks a life. Returns its pid."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        trap = Trap(folder, kill_at, with_signal)
        live_once(lambda: make(folder), folder, ids, trap, shared=shared, lease=lease)
        code = 0
    except BaseException:  # noqa: BLE001  whatever it was, the parent must see it
        (folder / "error").write_text(traceback.format_exc())
    finally:
        os._exit(code)


def wait(pid: int) -> int:
    """0: it came to its end. Otherwise the signal that ended it. Anything else is a failure."""
    deadline = time.monotonic() + LIMIT
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError("a life did not come to its end: it hangs")
        time.sleep(0.001)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status)
    return 0 if os.WEXITSTATUS(status) == 0 else -1


def live(make: MakeJournal, folder: Path, ids: list[SessionId], kill_at: Point) -> bool:
    """True if it was killed, False if it came to its end."""
    ended = wait(start(make, folder, ids, kill_at=kill_at))
    if ended == -1:
        raise AssertionError((folder / "error").read_text())
    return ended == signal.SIGKILL


def verdict(make: MakeJournal, folder: Path, ids: list[SessionId]) -> Verdict:
    async def look() -> Verdict:
        journal = make(folder)
        await journal.open()
        try:
            return await examine(journal, folder, ids)
        finally:
            await journal.close()

    return asyncio.run(look())
