"""Runs the proof and prints its table.

python -m tests.faults            about 600 kills: what CI runs
python -m tests.faults --full     2,000 and more; writes the table into docs/promises.md
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tests.faults import boundaries, disk, frozen, power, under_load
from tests.faults.boundaries import Tally
from tests.faults.killing import MakeJournal, postgres_at
from tests.postgres import NoPostgres, cluster

ROOT = Path(__file__).resolve().parents[2]
PROMISES = ROOT / "docs" / "promises.md"
MARK = "<!-- the table below is written by `make faults FULL=1` -->"


def kinds(*, full: bool, postgres: MakeJournal | None) -> Iterator[tuple[str, Callable[[], Tally]]]:
    yield "killed at every boundary", every_boundary
    yield "killed again in recovery", lambda: in_recovery(full=full)
    yield "killed on the real disk", lambda: on_disk(full=full)
    yield "killed at random, three processes", lambda: at_random(40 if full else 8)
    if postgres is not None:
        make = postgres
        yield "killed at every boundary, PostgreSQL", lambda: on_postgres(make, full=full)
        yield "killed at random, PostgreSQL", lambda: at_random(10 if full else 2, make=make)
    yield "owner stopped and back, SQLite", stopped
    if postgres is not None:
        yield "owner stopped and back, PostgreSQL", lambda: stopped(make=postgres)
    yield "log cut or zeroed (power)", lambda: power.sweep(60 if full else 12)
    if disk.may_mount():
        yield "disk full", disk.no_room
    yield "sync fails with EIO", lambda: syncs(range(1, 19 if full else 11, 1 if full else 2))


def every_boundary() -> Tally:
    count, names = boundaries.normal()
    tally, hit = boundaries.sweep("", boundaries.every(count))
    tally, missed = boundaries.stragglers(tally, names, hit)
    return tally._replace(other=(*tally.other, *(f"never killed at {name}" for name in missed)))


def in_recovery(*, full: bool) -> Tally:
    count, _ = boundaries.normal()
    second = (0, 1, 2, 3, 5, 8, 13, 21, 34) if full else (1, 5, 13)
    return boundaries.sweep("", boundaries.every(count, step=3 if full else 9, second=second))[0]


def on_disk(*, full: bool) -> Tally:
    count, _ = boundaries.normal()
    plans = boundaries.every(count, step=2 if full else 3, second=(4,))
    return boundaries.sweep("", plans, real_disk=True)[0]


def at_random(rounds: int, make: MakeJournal = boundaries.sqlite_in) -> Tally:
    return merge(under_load.one_round(seed, 20, make=make) for seed in range(rounds))


def on_postgres(make: MakeJournal, *, full: bool) -> Tally:
    count, _ = boundaries.normal(make)
    plans = boundaries.every(count, step=1 if full else 4)
    return boundaries.sweep("", plans, make=make)[0]


def stopped(make: MakeJournal = boundaries.sqlite_in) -> Tally:
    return merge(frozen.one(point, make=make) for point in (8, 20, 33, 47, 60, 80, 100, 120))


def syncs(points: range) -> Tally:
    return merge(disk.failing_sync(when) for when in points)


def merge(tallies: Iterator[Tally]) -> Tally:
    total = Tally("")
    for t in tallies:
        total = Tally(
            "",
            total.runs + t.runs,
            total.kills + t.kills,
            total.lost + t.lost,
            total.doubled + t.doubled,
            (*total.other, *t.other),
        )
    return total


HEAD = ("kind", "runs", "kills", "lost", "doubled", "seconds")


def row(cells: tuple[object, ...]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make faults")
    parser.add_argument("--full", action="store_true")
    full = parser.parse_args().full
    lines, wrong, kills = [row(HEAD), "|---|--:|--:|--:|--:|--:|"], [], 0
    commit = _commit()  # of the code that is loaded now
    print("\n".join(lines), flush=True)
    with ExitStack() as stack:
        postgres = None
        try:
            postgres = postgres_at(stack.enter_context(cluster()))
        except NoPostgres as missing:
            print(f"(without PostgreSQL: missing {missing})")
        for kind, run in kinds(full=full, postgres=postgres):
            begun = time.monotonic()
            tally = run()
            kills += tally.kills
            wrong += tally.other
            seconds = f"{time.monotonic() - begun:.0f}"
            lines.append(row((kind, tally.runs, tally.kills, tally.lost, tally.doubled, seconds)))
            print(lines[-1], flush=True)
    print(f"\n{kills} kills, {len(wrong)} violations", *wrong[:20], sep="\n  ")
    if full and not wrong:
        publish(lines, kills, commit)
    return 1 if wrong else 0


def _commit() -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout.strip() or "unknown"


def publish(lines: list[str], kills: int, commit: str) -> None:
    day = datetime.now(UTC).date().isoformat()
    text = PROMISES.read_text().split(MARK)[0]
    PROMISES.write_text(
        f"{text}{MARK}\n\nCommit {commit}, {day}: {kills} kills.\n\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    sys.exit(main())
