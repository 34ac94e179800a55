"""Everything one run measured, before anyone judges it."""

from dataclasses import dataclass, field

from bench.measure import Load, Point, exponent, median

FLOOR, OURS = "SQLite floor", "Holdfast"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One store, run alone."""

    name: str
    points: list[Point]
    load: Load | None = None
    load_runs: int = 0
    load_of: int = 0
    stopped: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    journal: str = ""

    def at(self, length: int) -> Point | None:
        """The point at this length, if the store came so far."""
        return next((point for point in self.points if point.length == length), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Ours and the floor, step by step in turn."""

    ours: list[Point]
    floor: list[Point]


@dataclass(frozen=True, slots=True, kw_only=True)
class InTurn:
    """Several such rounds. Ratios are taken within a round, where the machine is the same."""

    rounds: list[Round]

    def lengths(self) -> list[int]:
        """The lengths every round reached."""
        return [point.length for point in self.rounds[0].ours]

    def p50(self, side: str, length: int) -> float:
        """The median over the rounds of the median step."""
        return median([_at(getattr(one, side), length).p50_us for one in self.rounds])

    def p99(self, side: str, length: int) -> float:
        """The median over the rounds of the slow steps."""
        return median([_at(getattr(one, side), length).p99_us for one in self.rounds])

    def ratios(self, length: int) -> list[float]:
        """Ours over the floor, for each round."""
        return [_at(one.ours, length).p50_us / _at(one.floor, length).p50_us for one in self.rounds]

    def ratio(self, length: int) -> float:
        """Ours over the floor."""
        return median(self.ratios(length))

    def time_growth(self, side: str, first: int, last: int) -> float:
        """The exponent of the step's time."""
        pairs = [
            (_at(getattr(one, side), first), _at(getattr(one, side), last)) for one in self.rounds
        ]
        return median([exponent((first, a.p50_us), (last, b.p50_us)) for a, b in pairs])


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """One run of the benchmark."""

    machine: dict[str, str]
    lengths: list[int]
    payload: dict[int, int]
    quick: bool
    stores: list[Store] = field(default_factory=list)
    in_turn: InTurn | None = None
    raw_load: Load | None = None
    fold: dict[str, float] | None = None
    tenk: dict[str, float] | None = None
    missing: list[str] = field(default_factory=list)

    def store(self, name: str) -> Store | None:
        """The store of this name, if it was measured."""
        return next((store for store in self.stores if store.name == name), None)

    def peers(self) -> list[Store]:
        """Everyone but ours and the floor."""
        return [store for store in self.stores if store.name not in (FLOOR, OURS)]


def growth_span(points: list[Point]) -> tuple[Point, Point] | None:
    """From 1000 to the last point; where that was not reached, the last two points."""
    if len(points) < 2:
        return None
    first = next((point for point in points if point.length == 1000), points[-2])
    return (first if first is not points[-1] else points[-2]), points[-1]


def _at(points: list[Point], length: int) -> Point:
    return next(point for point in points if point.length == length)
