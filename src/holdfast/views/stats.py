"""The ledgers of all sessions in one answer: how often, why, and how well it came back (SPEC L1)."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from holdfast.core.session import StopReason
from holdfast.core.value import Value
from holdfast.views.moments import DAY, rfc3339
from holdfast.views.telemetry import DATE, DayRecord, Ledger, StopRecord

SHOWN = 200  # interruptions told one by one, the newest


class StopCount(Value, omit_defaults=False):
    reason: str
    phase: str
    count: int


class Resumes(Value, omit_defaults=False):
    """Of the stops that were not the end of the work."""

    stops: int
    resumed: int
    succeeded: int
    failed: int
    open: int  # resumed, and nothing is known yet
    success_rate: float | None  # of those that are known
    repeated_calls: int
    with_repeats: int  # resumes that repeated something


class Percentiles(Value, omit_defaults=False):
    """Seconds."""

    p50: float
    p90: float
    p99: float
    most: float


class StopOutcome(Value, omit_defaults=False):
    session: str
    run: int
    at: str
    reason: str
    error: str | None
    phase: str
    resumed_at: str | None
    seconds_to_resume: float | None
    cause: str
    strategy: str
    drift: str
    success: bool | None
    repeated: int


class DayOut(Value, omit_defaults=False):
    day: str
    runs: int
    stops: int
    interrupted: int
    cost: float  # US dollars
    input_tokens: int
    output_tokens: int


class StatsOut(Value, omit_defaults=False):
    days: int
    since: str
    sessions: int  # with something in that time
    stops: tuple[StopCount, ...]  # most frequent first
    resumes: Resumes
    time_to_resume: Percentiles | None
    strategies: dict[str, int]
    drifts: dict[str, int]
    per_day: tuple[DayOut, ...]  # each day, the earliest first
    interruptions: tuple[StopOutcome, ...]  # newest first


def stats(ledgers: Iterable[Ledger], *, now: int, days: int) -> StatsOut:
    """`days` counts today."""
    first = (now // DAY - days + 1) * DAY
    dates = [rfc3339(first + n * DAY)[:DATE] for n in range(days)]
    stops: list[StopRecord] = []
    used: dict[str, list[DayRecord]] = {date: [] for date in dates}
    sessions = 0
    for ledger in ledgers:
        recent = [stop for stop in ledger.stops if stop.at >= first]
        spent = [(date, day) for date, day in ledger.days.items() if date in used]
        sessions += bool(recent or spent)
        stops += recent
        for date, day in spent:
            used[date].append(day)
    stops.sort(key=lambda stop: stop.at, reverse=True)
    of_day: dict[str, list[StopRecord]] = {date: [] for date in dates}
    for stop in stops:
        of_day.get(rfc3339(stop.at)[:DATE], []).append(stop)  # a clock may be ahead of ours
    resumed = [stop for stop in stops if stop.resumed_at is not None]
    counts = Counter((stop.reason.value, str(stop.phase)) for stop in stops)
    return StatsOut(
        days=days,
        since=rfc3339(first),
        sessions=sessions,
        stops=tuple(
            StopCount(reason=reason, phase=phase, count=count)
            for (reason, phase), count in sorted(counts.items(), key=lambda c: (-c[1], c[0]))
        ),
        resumes=_resumes(stops, resumed),
        time_to_resume=percentiles([(s.resumed_at or s.at) - s.at for s in resumed]),
        strategies=dict(Counter(s.strategy for s in resumed if s.strategy)),
        drifts=dict(Counter(s.drift for s in resumed if s.drift)),
        per_day=tuple(_day(date, used[date], of_day[date]) for date in dates),
        interruptions=tuple(_outcome(s) for s in stops if s.resumable)[:SHOWN],
    )


def _resumes(stops: Sequence[StopRecord], resumed: Sequence[StopRecord]) -> Resumes:
    well = sum(stop.success is True for stop in resumed)
    badly = sum(stop.success is False for stop in resumed)
    return Resumes(
        stops=sum(stop.resumable for stop in stops),
        resumed=len(resumed),
        succeeded=well,
        failed=badly,
        open=len(resumed) - well - badly,
        success_rate=round(well / (well + badly), 4) if well + badly else None,
        repeated_calls=sum(stop.repeated for stop in resumed),
        with_repeats=sum(stop.repeated > 0 for stop in resumed),
    )


def percentiles(millis: Sequence[int]) -> Percentiles | None:
    """By nearest rank: always a value that occurred."""
    if not millis:
        return None
    ordered = sorted(max(m, 0) / 1000 for m in millis)
    p50, p90, p99 = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9, 0.99))
    return Percentiles(p50=p50, p90=p90, p99=p99, most=ordered[-1])


def _day(date: str, used: Sequence[DayRecord], of_day: Sequence[StopRecord]) -> DayOut:
    return DayOut(
        day=date,
        runs=sum(day.runs for day in used),
        stops=len(of_day),
        interrupted=sum(stop.reason is StopReason.INTERRUPTED for stop in of_day),
        cost=sum(day.cost_micros for day in used) / 1_000_000,
        input_tokens=sum(day.input_tokens for day in used),
        output_tokens=sum(day.output_tokens for day in used),
    )


def _outcome(stop: StopRecord) -> StopOutcome:
    back = stop.resumed_at
    return StopOutcome(
        session=stop.session,
        run=stop.run,
        at=rfc3339(stop.at),
        reason=stop.reason,
        error=stop.error,
        phase=stop.phase,
        resumed_at=rfc3339(back) if back is not None else None,
        seconds_to_resume=max(back - stop.at, 0) / 1000 if back is not None else None,
        cause=stop.cause,
        strategy=stop.strategy,
        drift=stop.drift,
        success=stop.success,
        repeated=stop.repeated,
    )
