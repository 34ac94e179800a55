"""`stats`: what stopped and what came back, as figures and small plots of 80 columns (SPEC L1)."""

import sys
from collections import Counter

import click

from holdfast.cli.output import connect, json_option, paint, say_json
from holdfast.core.session import Phase
from holdfast.views.moments import span
from holdfast.views.plain import DOING, TABLES
from holdfast.views.plots import lying, room, standing
from holdfast.views.stats import DayOut, StatsOut
from holdfast.views.words import money

BAR = 30
HEIGHT = 4
LABEL = 16
MOST_DAYS = 66  # bars that stand beside a label in 80 columns


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
        p50, p90, p99 = (span(round(t * 1000)) for t in (times.p50, times.p90, times.p99))
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


def _per_day(days: tuple[DayOut, ...], *, plain: bool) -> None:
    shown = days[-MOST_DAYS:]
    costs = [day.cost for day in shown]
    tokens = [float(day.input_tokens + day.output_tokens) for day in shown]
    _columns("Cost per day", costs, money(max(costs)), money(sum(costs)), shown, plain=plain)
    many, whole = _count(max(tokens)), _count(sum(tokens))
    _columns("Tokens per day", tokens, many, whole, shown, plain=plain)


def _columns(
    title: str,
    values: list[float],
    most: str,
    whole: str,
    days: tuple[DayOut, ...],
    *,
    plain: bool,
) -> None:
    if not any(values):
        return
    print(f"\n{paint(title, 'grey')} (all together {whole})")
    for n, line in enumerate(standing(values, HEIGHT, plain=plain)):
        label = most if n == 0 else "0" if n == HEIGHT - 1 else ""
        print(f"  {label:>9} {paint(line, 'blue')}".rstrip())
    first, last = days[0].day[5:], days[-1].day[5:]
    gap = max(room(len(days)) - len(first) - len(last), 1)
    print(f"  {'':>9} {first}{' ' * gap if len(days) > 1 else ''}{last if len(days) > 1 else ''}")


def _count(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{unit}"
    return f"{value:.0f}"
