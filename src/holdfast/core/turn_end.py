"""How the end of a foreign agent's turn ends our run: its word, or its complaint, to a stop."""

from holdfast.core.agent_errors import Trouble
from holdfast.core.ids import LaunchNumber, RunNumber
from holdfast.core.inputs import RunFinished
from holdfast.core.session import ErrorClass, Evidence, StopReason

_R, _E = StopReason, ErrorClass
# what the agent says: reason, class, message. Anything else is the end of a turn like any other.
WORDS: dict[str, tuple[StopReason, ErrorClass | None, str]] = {
    "end_turn": (_R.COMPLETED, None, ""),
    "max_tokens": (_R.ERROR, _E.CONTEXT_OVERFLOW, "The model's token limit was reached."),
    "max_turn_requests": (_R.ROUND_LIMIT, None, "The agent's own limit of rounds was reached."),
    "refusal": (_R.ERROR, _E.REFUSAL, "The agent refused to go on."),
}


def ended(
    launch: LaunchNumber,
    run: RunNumber,
    *,
    stop_reason: str = "end_turn",
    asked: bool = False,
    trouble: Trouble | None = None,
    message: str = "",
) -> RunFinished:
    """`asked`: we had cancelled it."""
    if trouble is not None:
        return RunFinished(
            launch=launch,
            run=run,
            reason=trouble.reason,
            error=trouble.error,
            message=message,
            resumes_at=trouble.resumes_at,
            evidence=Evidence(status=trouble.status, rule=trouble.rule),
        )
    # Some call it the end of a turn like any other, cancelled or not. The user's word counts then.
    if stop_reason == "cancelled" or (asked and stop_reason == "end_turn"):
        reason, error = (_R.CANCELLED if asked else _R.INTERRUPTED), None
        message = "" if asked else "The agent ended its turn by itself."
    else:
        reason, error, message = WORDS.get(stop_reason, WORDS["end_turn"])
    return RunFinished(launch=launch, run=run, reason=reason, error=error, message=message)
