"""Holdfast doing the work.

    python -m bench.ours load FOLDER    the last state, in a new process
    python -m bench.ours raw FOLDER     the same rows by plain sqlite3 and json.loads
    python -m bench.ours fold           200,000 events folded

Each prints one JSON line. The driver leaves Holdfast out, and says so, while a
NotImplementedError or an ImportError comes from here.
"""

# ruff: noqa: E402
from __future__ import annotations

import time

# Before every other import, so that nothing Holdfast needs is imported for free.
STARTED_CPU = time.process_time()

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.workload import Message

FOLDED_EVENTS = 200_000


class Ours:
    """One session in one store."""

    async def open(self, folder: Path) -> None:
        """Make a new store in the folder, with one session ready."""
        raise NotImplementedError("bench.ours is not connected to the journal yet")

    async def step(self, message: Message) -> None:
        """Durable (FULL) when it returns."""
        raise NotImplementedError

    def bytes_on_disk(self) -> int:
        """Database and WAL, live."""
        raise NotImplementedError

    async def close(self) -> None:
        """Leave the folder as a clean stop leaves it."""
        raise NotImplementedError


def load(folder: Path) -> dict[str, float]:
    """Keys: import_cpu, load_wall, load_cpu, messages."""
    raise NotImplementedError("bench.ours load is not written yet")


def raw(folder: Path) -> dict[str, float]:
    """The yardstick for `load`; the same keys."""
    raise NotImplementedError("bench.ours raw is not written yet")


def fold() -> dict[str, float]:
    """Keys: events, wall, cpu."""
    raise NotImplementedError("bench.ours fold is not written yet")


def main() -> None:
    """Do what the command line says."""
    from bench.measure import say

    match sys.argv[1:]:
        case ["load", folder]:
            say(**load(Path(folder)))
        case ["raw", folder]:
            say(**raw(Path(folder)))
        case ["fold"]:
            say(**fold())
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
