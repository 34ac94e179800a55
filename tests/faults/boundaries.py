"""Kill at every journal boundary, and again during the recovery from that."""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from tests.faults.checks import Verdict
from tests.faults.killing import MakeJournal, Point, live, place, seen, sqlite_in, verdict
from tests.faults.scenario import session_ids

IDS = session_ids("b", 1)


class Tally(NamedTuple):
    kind: str
    runs: int = 0
    kills: int = 0
    lost: int = 0
    doubled: int = 0
    other: tuple[str, ...] = ()

    def plus(self, kills: int, found: Verdict) -> "Tally":
        return self._replace(
            runs=self.runs + 1,
            kills=self.kills + kills,
            lost=self.lost + len(found.lost),
            doubled=self.doubled + len(found.doubled),
            other=(*self.other, *found.lost, *found.doubled, *found.other),
        )


def normal(make: MakeJournal = sqlite_in) -> tuple[int, set[str]]:
    """How many boundaries a life without trouble passes, and their names."""
    with place() as folder:
        assert not live(make, folder, IDS, None)
        names = seen(folder, "passed")
        found = verdict(make, folder, IDS)
        assert found.clean, found
    return len(names), set(names)


def kill_at(
    points: tuple[Point, ...], *, make: MakeJournal = sqlite_in, real_disk: bool = False
) -> tuple[int, Verdict, set[str]]:
    """Kills successive lives at these boundaries, then lets one come to its end."""
    with place(real_disk=real_disk) as folder:
        kills = sum(live(make, folder, IDS, point) for point in points)
        assert not live(make, folder, IDS, None)
        return kills, verdict(make, folder, IDS), set(seen(folder, "killed"))


def sweep(
    kind: str,
    plans: Iterable[tuple[Point, ...]],
    *,
    make: MakeJournal = sqlite_in,
    real_disk: bool = False,
) -> tuple[Tally, set[str]]:
    tally, hit = Tally(kind), set[str]()
    for points in plans:
        kills, found, names = kill_at(points, make=make, real_disk=real_disk)
        tally, hit = tally.plus(kills, found), hit | names
    return tally, hit


def stragglers(
    tally: Tally, names: set[str], hit: set[str], *, make: MakeJournal = sqlite_in
) -> tuple[Tally, set[str]]:
    """Boundaries move a little from run to run: those that no number hit are hit by name."""
    for name in sorted(names - hit):
        kills, found, got = kill_at((name,), make=make)
        tally, hit = tally.plus(kills, found), hit | got
    return tally, names - hit


def every(
    count: int, *, step: int = 1, second: tuple[int, ...] = ()
) -> Iterable[tuple[Point, ...]]:
    """Every boundary; with `second`, each followed by a kill during the recovery."""
    firsts = range(0, count, step)
    return itertools.product(firsts, second) if second else ((k,) for k in firsts)
