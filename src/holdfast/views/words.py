"""One line per stop, for people; what a reason means to a shell. The texts are SPEC K2's."""

from holdfast.core.session import StopReason
from holdfast.views.document import SessionOut, StopOut
from holdfast.views.moments import age, clock, from_rfc3339

STOPPED: dict[StopReason, str] = {
    StopReason.COMPLETED: "Completed",
    StopReason.CANCELLED: "Agent stopped by user",
    StopReason.BUDGET_EXCEEDED: "Budget limit reached",
    StopReason.TOOL_LIMIT: "Tool call limit reached",
    StopReason.ROUND_LIMIT: "Round limit reached",
    StopReason.TIME_LIMIT: "Time limit reached",
    StopReason.RATE_LIMITED: "Rate limited",
    StopReason.ERROR: "Something went wrong",
    StopReason.INTERRUPTED: "Session was interrupted. Resume where you left off?",
}

# In a column of a list: one or two words.
SHORT: dict[StopReason, str] = {
    StopReason.COMPLETED: "completed",
    StopReason.CANCELLED: "cancelled",
    StopReason.BUDGET_EXCEEDED: "budget limit",
    StopReason.TOOL_LIMIT: "tool limit",
    StopReason.ROUND_LIMIT: "round limit",
    StopReason.TIME_LIMIT: "time limit",
    StopReason.RATE_LIMITED: "rate limited",
    StopReason.ERROR: "error",
    StopReason.INTERRUPTED: "interrupted",
}

OK, FAILED, CANCELLED, LIMIT = 0, 1, 4, 75
EXIT_CODES: dict[StopReason, int] = {
    StopReason.COMPLETED: OK,
    StopReason.CANCELLED: CANCELLED,
    StopReason.BUDGET_EXCEEDED: LIMIT,
    StopReason.TOOL_LIMIT: LIMIT,
    StopReason.ROUND_LIMIT: LIMIT,
    StopReason.TIME_LIMIT: LIMIT,
    StopReason.RATE_LIMITED: LIMIT,
    StopReason.ERROR: FAILED,
    StopReason.INTERRUPTED: FAILED,
}


def banner(stop: StopOut) -> str:
    """The one line between the last message and the input."""
    reason = StopReason(stop.reason)
    text = STOPPED[reason]
    if reason is StopReason.BUDGET_EXCEEDED and stop.percent is not None:
        return f"{text} ({stop.percent}% used)"
    if reason is StopReason.RATE_LIMITED and stop.resumes_at is not None:
        return f"{text} until {clock(from_rfc3339(stop.resumes_at))}"
    return text


def explained(stop: StopOut) -> str:
    """The banner's line and what we know beyond it."""
    known = [stop.message] if stop.message else []
    if stop.error is not None:
        known.append(f"[{stop.error}]")
    if stop.evidence.get("daemon_stopping"):
        known.append("The daemon was stopped.")
    return " ".join([banner(stop), *known])


def where(stop: StopOut, now: int) -> str:
    """The second line of an interrupted session: round, phase, age."""
    parts = [f"round {stop.round}"] if stop.round else []
    return ", ".join([*parts, stop.phase.replace("_", " "), age(from_rfc3339(stop.at), now)])


def doing(session: SessionOut) -> str:
    """In a list: what it is at, or why it stopped."""
    if session.quarantined:
        return "quarantined"
    if session.pending:
        return "question open"
    if session.run is not None:
        return session.phase.replace("_", " ")
    last = session.last_stop
    return SHORT[StopReason(last.reason)] if last else "not started"


def money(dollars: float) -> str:
    return "" if dollars == 0 else f"${dollars:.2f}" if dollars >= 0.1 else f"${dollars:.4f}"  # noqa: PLR2004
