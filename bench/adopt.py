"""How fast `hold adopt` lists what other agents left on a machine.

python -m bench.adopt [--mb 1000]: makes transcripts of six agents, then lists them: the first time, when each of
them is read; again, when nothing changed; and after a hundredth of them has grown. Beside it, in the same run, what
it takes to only read the same bytes.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.machine import describe, scratch_parent
from bench.transcripts import grow, make
from holdfast.agents.profiles.load import Profiles
from holdfast.agents.transcripts.shelf import Shelf

TARGET = 400  # MB/s, after the first time
ROUNDS = 3
CHANGED = 100  # one in so many
READ, FIRST = "only read, from memory", "listed first, from memory"
AGAIN, CHANGED_SOME = "listed again", "listed after a hundredth grew"


class Machine:
    """A user's home, full of other agents' work, and a state folder of ours."""

    def __init__(self, folder: Path, size: int) -> None:
        self.home, self.state = folder / "home", folder / "state"
        self.home.mkdir()
        self.made = make(self.home, size)
        self.files = sorted(path for path in self.home.rglob("*") if path.is_file())
        self.bytes = sum(path.stat().st_size for path in self.files)
        os.sync()

    def forget(self) -> None:
        """Our index."""
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir()

    def chill(self) -> None:
        """The system's memory of the files."""
        for path in self.files:
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def list(self) -> int:
        """As a daemon that was just started does."""
        shelf = Shelf(Profiles({}, "bench"), self.state)
        found, _ = asyncio.run(shelf.records({"HOME": str(self.home)}))
        return len(found)

    def read(self) -> int:
        """As `cat` does."""
        room = bytearray(1 << 20)
        for path in self.files:
            with path.open("rb", buffering=0) as file:
                while file.readinto(room):
                    pass
        return len(self.files)


class Taken(NamedTuple):
    wall: float
    cpu: float


def once(work: Callable[[], int]) -> Taken:
    begun, used = time.perf_counter(), time.process_time()
    assert work()
    return Taken(time.perf_counter() - begun, time.process_time() - used)


def median(work: Callable[[], int], before: Callable[[], object] = lambda: None) -> Taken:
    taken = []
    for _ in range(ROUNDS):
        before()
        taken.append(once(work))
    return sorted(taken)[ROUNDS // 2]


def measure(machine: Machine) -> dict[str, Taken]:
    taken = {}
    if hasattr(os, "posix_fadvise"):
        machine.chill()
        taken["only read, from the disk"] = once(machine.read)
        machine.chill()
        machine.forget()
        taken["listed first, from the disk"] = once(machine.list)
    taken[READ] = median(machine.read)
    taken[FIRST] = median(machine.list, machine.forget)
    taken[AGAIN] = median(machine.list)
    theirs = [path for path in machine.files if ".claude" in path.parts]

    def change() -> None:
        for path in theirs[: len(machine.files) // CHANGED + 1]:
            grow(path)

    taken[CHANGED_SOME] = median(machine.list, change)
    return taken


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--mb", type=int, default=1000)
    with tempfile.TemporaryDirectory(dir=scratch_parent()) as folder:
        machine = Machine(Path(folder), asked.parse_args().mb * 1_000_000)
        megabytes, count = machine.bytes / 1e6, sum(machine.made.values())
        print(", ".join(f"{name} {value}" for name, value in describe(Path(folder)).items()))
        print(f"{count} conversations, {megabytes:.0f} MB: {machine.made}")
        taken = measure(machine)
    print(f"{'':32} {'time':>11} {'':>12}   {'CPU':>9}")
    for what, (wall, cpu) in taken.items():
        speed = f"{megabytes / wall:7,.0f} MB/s"
        print(f"{what:32} {wall * 1000:8.0f} ms {speed}   {cpu * 1000:6.0f} ms")
    ratio = taken[FIRST].wall / taken[READ].wall
    print(f"the first listing takes {ratio:.1f} times as long as only reading does")
    slowest = megabytes / max(taken[AGAIN].wall, taken[CHANGED_SOME].wall)
    verdict = "kept" if slowest >= TARGET else "MISSED"
    print(f"target: {TARGET} MB/s or more once they have been read: {verdict}")


if __name__ == "__main__":
    main()
