"""An owner that is stopped (SIGSTOP), loses its lease, and comes back: it is fenced out.

Its process lives, so nobody may take it for dead; only when its lease has run out may another go on.
What the first one still had in hand must not get into the journal.
"""

import os
import signal
from pathlib import Path

from tests.faults.boundaries import IDS, Tally
from tests.faults.killing import MakeJournal, place, sqlite_in, start, verdict, wait

SHORT = 500  # ms of lease


def one(point: int | str, *, make: MakeJournal = sqlite_in, kind: str = "owner stopped") -> Tally:
    with place() as folder:
        first = start(
            make, folder, IDS, kill_at=point, shared=True, lease=SHORT, with_signal=signal.SIGSTOP
        )
        _, status = os.waitpid(first, os.WUNTRACED)
        assert os.WIFSTOPPED(status), f"there is no boundary {point}"
        second = start(make, folder, IDS, kill_at=None, shared=True, lease=SHORT)
        assert wait(second) == 0, (folder / "error").read_text()
        os.kill(first, signal.SIGCONT)
        assert wait(first) == 0, (folder / "error").read_text()
        found = verdict(make, folder, IDS)
        found.other.extend(late_writes(folder, first, second))
    return Tally(kind).plus(0, found)


def late_writes(folder: Path, first: int, second: int) -> list[str]:
    """What the first owner got acknowledged after the second one had the lease."""
    lines = [line.split() for line in (folder / "acks").read_text().splitlines()]
    taken = next(
        n for n, line in enumerate(lines) if line[0] == "lease" and line[-1] == str(second)
    )
    theirs = max(n for n, line in enumerate(lines) if line[-1] == str(second))
    return [
        f"P3: the first owner wrote {line} after it had lost its lease"
        for line in lines[taken:theirs]
        if line[0] == "seq" and line[-1] == str(first)
    ]
