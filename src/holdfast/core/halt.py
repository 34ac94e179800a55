"""A limit that ends a run, whoever runs the agent: whether one is reached, and how the run then ends (SPEC B4, B5).

Rule 1: asked before each model call and each batch, where we make them. An agent that makes its own is asked about
        when all calls of a round are over, and when its time is up: it is interrupted, and then stopped.
Rule 2: time in which a person was asked does not count; whoever keeps the clock leaves it out.
"""

from holdfast.core import budget
from holdfast.core.ids import LaunchNumber
from holdfast.core.inputs import RunFinished
from holdfast.core.session import Hint, Session, StopReason

SUMMARY = 500  # characters of the last response
RETRYING_MOST = 60_000


def reached(s: Session, *, elapsed_ms: int, batch: bool = False) -> budget.Exceeded | None:
    if s.run is None:
        return None
    return budget.exceeded(
        s.run.limits, s.run.spent, cap=s.cap, totals=s.totals, elapsed_ms=elapsed_ms, batch=batch
    )


def near(s: Session, *, elapsed_ms: int) -> tuple[str, int] | None:
    """Which limit is nearly used up, and how far; said once."""
    if s.run is None:
        return None
    return budget.warning(
        s.run.limits, s.run.spent, cap=s.cap, totals=s.totals, elapsed_ms=elapsed_ms
    )


def between_rounds(s: Session) -> bool:
    """An agent that makes its own calls is about to ask its model again."""
    return s.run is not None and bool(s.calls) and not s.open_calls


def tried_enough(*, for_ms: int) -> bool:
    """An agent that says that it tries again and gets nowhere is not waited for (SPEC B7)."""
    return for_ms >= RETRYING_MOST


def halted(s: Session, launch: LaunchNumber, over: budget.Exceeded) -> RunFinished:
    assert s.run is not None
    used = budget.hint_used(s.run.spent, s.run.limits)
    return RunFinished(
        launch=launch,
        run=s.run.number,
        reason=StopReason(over.reason),
        message=over.text,
        percent=over.percent,
        hint=Hint(used=used, files=s.touched, summary=s.response.text[:SUMMARY]),
    )
