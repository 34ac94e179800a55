"""What a run may spend, what it has spent, and whether that is enough (SPEC B4, B5).

Rule 1: integers only. Money is counted in millionths of a dollar, so sums are exact.
Rule 2: nothing is ever given back: a report of less than nothing counts as nothing.
Rule 3: a limit is reached when what was spent is no longer below it. It is asked for before each
        model call and each batch, so a run spends at most its limit plus one call. A round is a
        response and its calls: the limit of rounds does not come between them.
Rule 4: a run's limits are held against its own window, which a continue opens afresh. The cap of
        a session is held against the session's totals, which nothing resets.
Rule 5: a response without a known price costs nothing that could be counted. Where money is limited,
        that is said once per run: the limit may not hold.
Rule 6: where several limits are reached, the first of money, tokens, tools, rounds, time is named.
"""

from collections.abc import Iterator
from typing import Literal

from holdfast.core.value import Value

WARN_PERCENT = 80
TENTHS = 10_000  # ms: below it, time is told more finely


class Usage(Value):
    """What one response, one run or one whole session has used."""

    input_tokens: int = 0  # all of them, also those that came from a cache
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_micros: int = 0  # millionths of a US dollar: sums stay exact
    unpriced: int = 0  # responses whose price nobody knows: the cost is then at least this

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Limits(Value):
    """Per run, except where a session-wide cap says otherwise. None or 0: no limit."""

    cost_micros: int | None = None
    tokens: int | None = None
    tool_calls: int = 50
    rounds: int | None = None
    wall_ms: int | None = None


class Spent(Value):
    """What the current run has used of its window."""

    usage: Usage = Usage()
    tool_calls: int = 0
    rounds: int = 0
    warned: bool = False  # the 80 % warning is given once


# The stop reasons of session.py that are limits. Spelled out: session.py builds on this module.
LimitReason = Literal["budget_exceeded", "tool_limit", "round_limit", "time_limit"]


class Exceeded(Value):
    """A limit that is reached: why the run has to stop."""

    reason: LimitReason
    percent: int
    limit: str  # its name: cost, tokens, session_cost, session_tokens, tool_calls, rounds, time
    text: str


class Gauge(Value):
    """One limit that is set, and how much of it is gone."""

    name: str
    reason: LimitReason
    used: int
    limit: int

    @property
    def percent(self) -> int:
        return percent(self.used, self.limit) or 0


NOTHING = Usage()


def add(a: Usage, b: Usage) -> Usage:
    if b == NOTHING:
        return a
    return Usage(
        input_tokens=max(0, a.input_tokens) + max(0, b.input_tokens),
        output_tokens=max(0, a.output_tokens) + max(0, b.output_tokens),
        cache_read_tokens=max(0, a.cache_read_tokens) + max(0, b.cache_read_tokens),
        cache_write_tokens=max(0, a.cache_write_tokens) + max(0, b.cache_write_tokens),
        cost_micros=max(0, a.cost_micros) + max(0, b.cost_micros),
        unpriced=max(0, a.unpriced) + max(0, b.unpriced),
    )


def percent(used: int, limit: int | None) -> int | None:
    """Rounded down, so that 100 means reached. None: there is no limit."""
    if limit is None or limit <= 0:
        return None
    return max(0, used) * 100 // limit


def exceeded(
    limits: Limits,
    spent: Spent,
    *,
    cap: Limits | None,
    totals: Usage,
    elapsed_ms: int,
    batch: bool = False,
) -> Exceeded | None:
    """The limit that forbids another model call, or (`batch`) the calls that the last one asked for.
    `totals` is the whole session's, this run included."""
    for gauge in _gauges(limits, spent, cap=cap, totals=totals, elapsed_ms=elapsed_ms):
        if gauge.used >= gauge.limit and not (batch and gauge.name == "rounds"):
            return Exceeded(
                reason=gauge.reason,
                percent=gauge.percent,
                limit=gauge.name,
                text=f"{LABELS[gauge.name]} reached: {_of(gauge)}.{RAISED.get(gauge.name, '')}",
            )
    return None


def warning(
    limits: Limits, spent: Spent, *, cap: Limits | None, totals: Usage, elapsed_ms: int
) -> tuple[str, int] | None:
    """Which limit is nearly used up, and how far. Once per run: `spent.warned` silences it. One that
    is used up stops the run, and that says it."""
    if spent.warned:
        return None
    for gauge in _gauges(limits, spent, cap=cap, totals=totals, elapsed_ms=elapsed_ms):
        if gauge.percent >= WARN_PERCENT and gauge.used < gauge.limit:
            return gauge.name, gauge.percent
    return None


def uncounted(
    limits: Limits, spent: Spent, *, cap: Limits | None, last: Usage, model: str
) -> str | None:
    """What is said when a limit of money cannot see the `last` response; at the first of a run."""
    limited = limits.cost_micros or (cap or Limits()).cost_micros
    if not limited or not last.unpriced or spent.usage.unpriced > last.unpriced:
        return None
    return (
        f"The price of {model} is not known here: what it costs does not count against the budget. "
        "Limit tokens instead (--budget-tokens)."
    )


def hint_used(spent: Spent, limits: Limits) -> str:
    """For the continuation hint: what the run that halted had used (SPEC B5)."""
    usage = spent.usage
    amounts = [
        ("cost", usage.cost_micros, limits.cost_micros),
        ("tokens", usage.tokens, limits.tokens),
        ("tool_calls", spent.tool_calls, limits.tool_calls),
        ("rounds", spent.rounds, limits.rounds),
    ]
    return ", ".join(
        _of(Gauge(name=name, reason="budget_exceeded", used=used, limit=limit))
        if limit is not None and limit > 0
        else _amount(name, used) + _UNIT[name]
        for name, used, limit in amounts
    )


def dollars(micros: int) -> str:
    """Exact, with cents at least: $0.50, $0.000125."""
    whole, rest = divmod(max(0, micros), 1_000_000)
    return f"${whole}." + f"{rest:06}".rstrip("0").ljust(2, "0")


def _gauges(
    limits: Limits, spent: Spent, *, cap: Limits | None, totals: Usage, elapsed_ms: int
) -> Iterator[Gauge]:
    cap = cap or Limits()
    table: tuple[tuple[str, LimitReason, int, int | None], ...] = (
        ("cost", "budget_exceeded", spent.usage.cost_micros, limits.cost_micros),
        ("session_cost", "budget_exceeded", totals.cost_micros, cap.cost_micros),
        ("tokens", "budget_exceeded", spent.usage.tokens, limits.tokens),
        ("session_tokens", "budget_exceeded", totals.tokens, cap.tokens),
        ("tool_calls", "tool_limit", spent.tool_calls, limits.tool_calls),
        ("rounds", "round_limit", spent.rounds, limits.rounds),
        ("time", "time_limit", elapsed_ms, limits.wall_ms),
    )
    for name, reason, used, limit in table:
        if limit is not None and limit > 0:
            yield Gauge(name=name, reason=reason, used=max(0, used), limit=limit)


LABELS = {
    "cost": "Budget limit",
    "session_cost": "Budget limit of the session",
    "tokens": "Token limit",
    "session_tokens": "Token limit of the session",
    "tool_calls": "Tool call limit",
    "rounds": "Round limit",
    "time": "Time limit",
}
RAISED = {  # what a fresh window does not help
    "session_cost": " A resume with --session-budget-usd raises it.",
    "session_tokens": " A resume with --session-budget-tokens raises it.",
}
_UNIT = {
    "cost": "",
    "session_cost": "",
    "tokens": " tokens",
    "session_tokens": " tokens",
    "tool_calls": " tool calls",
    "rounds": " rounds",
    "time": "",
}


def _of(gauge: Gauge) -> str:
    used, limit = _amount(gauge.name, gauge.used), _amount(gauge.name, gauge.limit)
    return f"{used} of {limit}{_UNIT[gauge.name]} ({gauge.percent}%)"


def _amount(name: str, number: int) -> str:
    match name:
        case "cost" | "session_cost":
            return dollars(number)
        case "time":
            return _seconds(max(0, number))
        case _:
            return str(max(0, number))


def _seconds(millis: int) -> str:
    """Tenths where whole seconds would say nothing."""
    return f"{millis / 1000:.1f} s" if millis < TENTHS else f"{millis // 1000} s"
