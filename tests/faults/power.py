"""Power cuts: the write-ahead log ends anywhere, or in zeroes. What is left must be a prefix of history.

Not to be had by killing: a killed process loses nothing that it wrote. So the file is cut instead, as
a disk may leave it that wrote part of what was not yet synced.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from holdfast.core import events as e
from holdfast.core.ids import RoundNumber, SessionId
from holdfast.journal import rows
from holdfast.journal.sqlite_store import SqliteStore
from holdfast.ports import Batch
from tests.faults.boundaries import Tally
from tests.faults.checks import Verdict
from tests.faults.killing import place

ID = SessionId("d00000000000")
STEP = 512
Commit = tuple[int, int]  # length of the log after it, head


def history(folder: Path, commits: int) -> list[Commit]:
    """A journal whose log was never moved into its file; what each commit left behind."""
    store = SqliteStore(folder / "journal.db")
    store.prepare()
    store.close()  # the log starts anew, and only grows from here
    store = SqliteStore(folder / "journal.db")
    with store.transaction(full=True):
        lease = store.claim(ID, "owner", 0, 1, "")
    made, head = [], 0
    for n in range(commits):
        text = f"{n} " * (200 + 900 * (n % 3))
        events = (
            e.TextSaved(round=RoundNumber(1), text=text, offset=n),
            e.Notice(kind="n", text=""),
        )
        batch = Batch(session=ID, generation=lease.generation, head=head, at=n, events=events)
        with store.transaction(full=True):
            store.append(batch, rows.event_rows(batch))
        head += len(events)
        made.append(((folder / "journal.db-wal").stat().st_size, head))
    shutil.copy(folder / "journal.db", folder / "saved.db")
    shutil.copy(folder / "journal.db-wal", folder / "saved.wal")
    store.close()
    return made


def after_cut(folder: Path, log: bytes, cut: int, *, zeroes: bool) -> int:
    """The head of what is left. Raises if it is not a whole prefix."""
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        (folder / name).unlink(missing_ok=True)
    shutil.copy(folder / "saved.db", folder / "journal.db")
    tail = b"\0" * (len(log) - cut) if zeroes else b""
    (folder / "journal.db-wal").write_bytes(log[:cut] + tail)
    store = SqliteStore(folder / "journal.db")
    try:
        store.check()
        past = store.read(ID, 0, None)  # raises if there is a gap or a head without its events
        return past[-1].seq if past else 0
    finally:
        store.close()


def sweep(commits: int, *, step: int = STEP, real_disk: bool = False) -> Tally:
    """Cuts the log at every step; half of the cuts leave zeroes behind, as ext4 may."""
    tally = Tally("power cut, log cut or zeroed")
    with place(real_disk=real_disk) as folder:
        made = history(folder, commits)
        log = (folder / "saved.wal").read_bytes()
        for n, cut in enumerate(_cuts(len(log), step)):
            promised = max((head for size, head in made if size <= cut), default=0)
            head = after_cut(folder, log, cut, zeroes=bool(n % 2))
            lost = (
                [f"P1: cut at {cut}: {promised} promised, {head} left"] if head < promised else []
            )
            tally = tally.plus(0, Verdict(lost, [], []))
    return tally


def _cuts(size: int, step: int) -> Iterable[int]:
    return range(0, size + 1, step)
