"""`stats`: what stopped and what came back, as figures and small plots (SPEC L1)."""

import sys
from collections import Counter
from collections.abc import Callable

import click

from holdfast.cli.output import connect, json_option, paint, say_json, terminal_width
from holdfast.core.session import Phase
from holdfast.views.moments import span
from holdfast.views.plain import DOING, TABLES
from holdfast.views.plots import lying, room, standing
from holdfast.views.stats import DayOut, StatsOut
from holdfast.views.words import money

BAR = 30
HEIGHT = 4
LABEL = 16
BESIDE = 14  # columns that a plot needs for its labels
FEWEST_DAYS = 7


@click.command()
@click.option("--days", type=click.IntRange(1, 3660), default=30, help="Default: 30.")
@json_option
def stats(*, days: int, as_json: bool) -> int:
    """What stopped, what came back and how well, and what it cost, day by day.

    Everything is read from your own journal; nothing leaves this machine.
    """
    found = connect().get(f"/api/stats?days={days}", StatsOut)
    if as_json:
        say_json(found)
        return 0
    _print(found, plain="utf" not in (sys.stdout.encoding or "").lower())
    return 0


def _print(found: StatsOut, *, plain: bool) -> None:
    span_of_days = "today" if found.days == 1 else f"the last {found.days} days"
    many = f"{found.sessions} session{'s' if found.sessions != 1 else ''}"
    print(f"{paint(many, 'bold')} in {span_of_days}")
    if not found.sessions:
        return
    _stops(found, plain=plain)
    _resumes(found)
    _per_day(found.per_day, plain=plain)


def _stops(found: StatsOut, *, plain: bool) -> None:
    if not found.stops:
        return
    print(f"\n{paint('Stops by reason', 'grey')}")
    by_reason: Counter[str] = Counter()
    for stop in found.stops:
        by_reason[stop.reason] += stop.count
    most = max(by_reason.values())
    for reason, count in by_reason.most_common():
        bar = lying(count, most, BAR, plain=plain).ljust(BAR)
        print(
            f"  {TABLES['REASONS'].get(reason, reason):<{LABEL}} {paint(bar, _colour(reason))} {count:>5}"
        )
    by_phase = Counter[str]()
    for stop in found.stops:
        if stop.reason != "completed":
            by_phase[stop.phase] += stop.count
    if not by_phase:
        return
    print(f"\n{paint('Cut off while', 'grey')}")
    most = max(by_phase.values())
    for phase, count in by_phase.most_common():
        bar = lying(count, most, BAR, plain=plain).ljust(BAR)
        print(f"  {DOING[Phase(phase)]:<{LABEL}} {bar} {count:>5}")


def _colour(reason: str) -> str:
    return {"completed": "green", "error": "red", "interrupted": "yellow"}.get(reason, "blue")


def _resumes(found: StatsOut) -> None:
    of = found.resumes
    if not of.stops:
        return
    rate = f"{of.success_rate:.0%}" if of.success_rate is not None else "-"
    print(f"\n{paint('Resumed', 'grey')}")
    print(f"  {of.resumed} of {of.stops} that stopped early; {rate} of them got on with the work")
    if (times := found.time_to_resume) is not None:
        p50, p90, p99 = (_seconds(t) for t in (times.p50, times.p90, times.p99))
        print(f"  time to resume: half within {p50}, 90% within {p90}, 99% within {p99}")
    repeated = f"{of.repeated_calls} calls, in {of.with_repeats} resumes"
    print(f"  repeated work: {repeated if of.repeated_calls else 'none'}")
    for name, counts, words in (
        ("context", found.strategies, TABLES["CONTEXT"]),
        ("workspace", found.drifts, TABLES["WORKSPACE"]),
    ):
        told = ", ".join(f"{words.get(key, key)} ({n})" for key, n in counts.items())
        if told:
            print(f"  {name}: {told}")


def _seconds(value: float) -> str:
    return span(round(value * 1000)) if value >= 10 else f"{value:.1f}s"  # noqa: PLR2004


def _per_day(days: tuple[DayOut, ...], *, plain: bool) -> None:
    within = max(terminal_width(80) - BESIDE, FEWEST_DAYS)
    drawn = days[-within:]
    for title, values, told in (
        ("Cost per day", [day.cost for day in days], money),
        ("Tokens per day", [float(d.input_tokens + d.output_tokens) for d in days], _count),
    ):
        if not any(values):
            continue
        cut = f"; the last {len(drawn)} days are drawn" if len(drawn) < len(days) else ""
        print(f"\n{paint(title, 'grey')} (all together {told(sum(values))}{cut})")
        _columns(values[-within:], told, within, plain=plain)
        first, last = drawn[0].day[5:], drawn[-1].day[5:]
        gap = max(room(len(drawn), within=within) - len(first) - len(last), 1)
        print(f"  {'':>9} {first}" + (f"{' ' * gap}{last}" if len(drawn) > 1 else ""))


def _columns(
    values: list[float], told: Callable[[float], str], within: int, *, plain: bool
) -> None:
    for n, line in enumerate(standing(values, HEIGHT, within=within, plain=plain)):
        label = told(max(values)) if n == 0 else "0" if n == HEIGHT - 1 else ""
        print(f"  {label:>9} {paint(line, 'blue')}".rstrip())


def _count(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{unit}"
    return f"{value:.0f}"
