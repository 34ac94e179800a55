"""What the peer scripts share: their arguments and how they answer the driver.

    python -m bench.peers.NAME run FOLDER --variant V --lengths 50,200 --seconds 60 --bytes 4e9
    python -m bench.peers.NAME load FOLDER --variant V --messages 200

`run` prints one JSON line about the product, one per length, one at the end;
`load` prints one line. Lines that are not JSON objects are the product's own talk.
"""

import argparse
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from bench.measure import Load, Recorder, folder_bytes, say


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the driver asks of a peer."""

    folder: Path
    variant: str
    lengths: list[int]
    seconds: float
    limit_bytes: float
    messages: int

    def recorder(self) -> Recorder:
        """A recorder that respects the limits of this task."""
        return Recorder(
            self.lengths,
            lambda: folder_bytes(self.folder),
            seconds=self.seconds,
            limit_bytes=self.limit_bytes,
        )


def main(run: Callable[[Task], None], load: Callable[[Task], Load]) -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("run", "load"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variant", default="")
    parser.add_argument("--lengths", default="50")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--bytes", type=float, default=4e9)
    parser.add_argument("--messages", type=int, default=0)
    given = parser.parse_args()
    task = Task(
        folder=given.folder,
        variant=given.variant,
        lengths=[int(length) for length in given.lengths.split(",")],
        seconds=given.seconds,
        limit_bytes=given.bytes,
        messages=given.messages,
    )
    if given.mode == "run":
        run(task)
    else:
        say(**asdict(load(task)))


def about(database: Path, *packages: str) -> None:
    """Tell which versions ran, and which journal the product chose for its file."""
    db = sqlite3.connect(database)
    (journal,) = db.execute("PRAGMA journal_mode").fetchone()
    db.close()
    say(versions={name: version(name) for name in packages}, journal=journal)
