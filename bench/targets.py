"""What must be reached, and whether it was.

PASS and FAIL are measured. SKIP was not asked for by the flags of this run. MISSING was
asked for and could not be measured: that is not a pass, and `--check` fails on it too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bench.measure import exponent
from bench.results import OURS, Results
from bench.tenk import LIVE, SESSIONS

FIRST, LAST = 1000, 4000
STEP_OVER_FLOOR = 1.5
TIME_GROWTH = 0.1
BYTES_GROWTH = 1.05
BYTES_OVER_PAYLOAD = 1.4
LOAD_OVER_RAW = 1.0
IMPORT_CPU = 0.150
FOLDED, FOLD_WALL = 200_000, 0.5
TENK_WALL, TENK_RSS_MB = 1.0, 150.0


class Verdict(StrEnum):
    """How a target came out."""

    PASS = "PASS"  # noqa: S105 (a verdict, not a word to get in)
    FAIL = "FAIL"
    SKIP = "SKIP"
    MISSING = "MISSING"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One target, what it asks, what was measured."""

    name: str
    asked: str
    measured: str
    verdict: Verdict


def judge(results: Results) -> list[Judged]:
    """Every target, in the order of the report."""
    return [target(results) for target in TARGETS]


def reached(judged: list[Judged]) -> bool:
    """Whether a check may pass."""
    return all(one.verdict in (Verdict.PASS, Verdict.SKIP) for one in judged)


def step_over_floor(results: Results) -> Judged:
    """The step against the floor, in turn."""
    ask = f"step p50 at {LAST}, in turn with the floor", f"<= {STEP_OVER_FLOOR} x floor"
    turns = results.in_turn
    if turns is None or LAST not in turns.lengths():
        return _not_measured(*ask, results)
    ratio, each = turns.ratio(LAST), turns.ratios(LAST)
    measured = f"{ratio:.2f} x ({min(each):.2f} to {max(each):.2f} in {len(each)} rounds)"
    return _judged(*ask, measured, good=ratio <= STEP_OVER_FLOOR)


def time_growth(results: Results) -> Judged:
    """A step of a long conversation costs what a step of a short one does."""
    ask = f"growth of step time, {FIRST} to {LAST}", f"exponent <= {TIME_GROWTH}"
    turns = results.in_turn
    if turns is None or LAST not in turns.lengths():
        return _not_measured(*ask, results)
    ours, floor = (turns.time_growth(side, FIRST, LAST) for side in ("ours", "floor"))
    return _judged(*ask, f"{ours:.2f} (floor {floor:.2f})", good=ours <= TIME_GROWTH)


def bytes_growth(results: Results) -> Judged:
    """The store grows as the conversation does."""
    ask = f"growth of bytes, {FIRST} to {LAST}", f"exponent <= {BYTES_GROWTH}"
    ours = results.store(OURS)
    first, last = (ours.at(FIRST), ours.at(LAST)) if ours else (None, None)
    if first is None or last is None:
        return _not_measured(*ask, results)
    grown = exponent((FIRST, first.bytes), (LAST, last.bytes))
    return _judged(*ask, f"{grown:.2f}", good=grown <= BYTES_GROWTH)


def bytes_over_payload(results: Results) -> Judged:
    """The live files against the text that is in them."""
    ask = f"bytes at {LAST}, with the WAL, live", f"<= {BYTES_OVER_PAYLOAD} x payload"
    ours = results.store(OURS)
    last = ours.at(LAST) if ours else None
    if last is None:
        return _not_measured(*ask, results)
    ratio = last.bytes / results.payload[LAST]
    return _judged(
        *ask, f"{ratio:.2f} x ({last.bytes / 1e6:.1f} MB)", good=ratio <= BYTES_OVER_PAYLOAD
    )


def cold_load(results: Results) -> Judged:
    """Coming back against reading the same rows by hand."""
    ask = "cold load, imports apart", "<= the same rows + json.loads"
    ours, raw = results.store(OURS), results.raw_load
    if ours is None or ours.load is None or raw is None:
        return _missing(*ask)
    if ours.load.messages != ours.load_of:
        return _judged(
            *ask, f"{ours.load.messages} of {ours.load_of} messages came back", good=False
        )
    ratio = ours.load.load_wall / raw.load_wall
    measured = (
        f"{ratio:.2f} x ({ours.load.load_wall * 1000:.0f} ms to {raw.load_wall * 1000:.0f} ms)"
    )
    return _judged(*ask, measured, good=ratio <= LOAD_OVER_RAW)


def import_time(results: Results) -> Judged:
    """What a process pays before it can do anything."""
    ask = "importing core and journal", f"<= {IMPORT_CPU * 1000:.0f} ms of CPU"
    ours = results.store(OURS)
    if ours is None or ours.load is None:
        return _missing(*ask)
    return _judged(
        *ask, f"{ours.load.import_cpu * 1000:.0f} ms", good=ours.load.import_cpu <= IMPORT_CPU
    )


def fold(results: Results) -> Judged:
    """A very long history, folded."""
    ask = f"folding {FOLDED:,} events", f"< {FOLD_WALL} s"
    if results.fold is None:
        return _missing(*ask)
    events, wall = int(results.fold["events"]), results.fold["wall"]
    return _judged(
        *ask, f"{wall:.3f} s ({events:,} events)", good=events >= FOLDED and wall < FOLD_WALL
    )


def many_sessions_time(results: Results) -> Judged:
    """A start that does not depend on how much is stored."""
    ask = f"{SESSIONS:,} sessions x 100: open, find the {LIVE} live", f"< {TENK_WALL:.0f} s"
    if results.tenk is None:
        return _missing(*ask)
    sessions, live, wall = (results.tenk[key] for key in ("sessions", "live", "wall"))
    measured = f"{wall:.3f} s ({sessions:,.0f} sessions, {live:.0f} live)"
    return _judged(*ask, measured, good=sessions == SESSIONS and live == LIVE and wall < TENK_WALL)


def many_sessions_memory(results: Results) -> Judged:
    """No history in memory. Where the store counts the events it read, they must be none."""
    ask = "the same: peak memory, no history loaded", f"< {TENK_RSS_MB:.0f} MB"
    if results.tenk is None:
        return _missing(*ask)
    peak, read = results.tenk["peak_rss_mb"], results.tenk.get("events_read")
    counted = "events read not counted" if read is None else f"{read:.0f} events read"
    return _judged(*ask, f"{peak:.0f} MB ({counted})", good=peak < TENK_RSS_MB and not read)


TARGETS: list[Callable[[Results], Judged]] = [
    step_over_floor,
    time_growth,
    bytes_growth,
    bytes_over_payload,
    cold_load,
    import_time,
    fold,
    many_sessions_time,
    many_sessions_memory,
]


def _judged(name: str, asked: str, measured: str, *, good: bool) -> Judged:
    verdict = Verdict.PASS if good else Verdict.FAIL
    return Judged(name=name, asked=asked, measured=measured, verdict=verdict)


def _missing(name: str, asked: str) -> Judged:
    return Judged(name=name, asked=asked, measured="not measured", verdict=Verdict.MISSING)


def _not_measured(name: str, asked: str, results: Results) -> Judged:
    if results.quick and results.store(OURS) is not None:
        stopped = f"a quick run stops at {results.lengths[-1]}"
        return Judged(name=name, asked=asked, measured=stopped, verdict=Verdict.SKIP)
    return _missing(name, asked)
