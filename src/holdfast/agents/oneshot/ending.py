"""How a turn ended, from all that an agent leaves behind: its last word, exit code, complaints.

Rule 1: the agent's own last word goes before its exit code: several exit with 0 after a failure, one
with the status of the provider's answer, and one says "success" over an error.
Rule 2: an agent that does not know the conversation is not a failed run (SPEC E6): it is told apart by
the profile's words for it.
"""

from collections.abc import Sequence

from holdfast.agents.oneshot.signs import Finished
from holdfast.core import inputs as i
from holdfast.core.agent_errors import classify, unfit
from holdfast.core.ids import LaunchNumber, Millis, RunNumber
from holdfast.core.session import ErrorClass, Evidence, StopReason
from holdfast.core.value import Value, replace

SHOWN = 600  # characters of complaints in a stop
INTERRUPTED = "The agent ended without a word before its turn was done."


class Left(Value):
    """What is left of a turn's process."""

    finished: Finished | None
    code: int | None  # a signal is negative
    complaints: str
    last: str


def ending(
    left: Left,
    *,
    launch: LaunchNumber,
    run: RunNumber,
    unknown: Sequence[str],
    login: str,
    resumed: bool,
    now: Millis,
    utc_offset_ms: int,
) -> i.RunFinished | i.TokenRefused:
    last, finished = left.complaints[-SHOWN:], left.finished
    evidence = Evidence(
        exit_code=left.code if left.code is not None and left.code >= 0 else None,
        signal=-left.code if left.code is not None and left.code < 0 else None,
        last_event=left.last or None,
        detail=last or None,
    )
    if finished is not None and not finished.failed:
        return i.RunFinished(launch=launch, run=run, reason=StopReason.COMPLETED, evidence=evidence)
    said = finished.message if finished is not None else ""
    words = f"{said}\n{left.complaints}"
    refused = next((text for text in unknown if text.lower() in words.lower()), None)
    if refused is not None and resumed:
        return i.TokenRefused(launch=launch, why=_line(words, refused))
    status = finished.status if finished is not None else None
    after = f"retry-after: {finished.retry_after}\n" if finished and finished.retry_after else ""
    trouble = classify(after + words, now=now, status=status, utc_offset_ms=utc_offset_ms)
    hint = f"Log in: {login}" if trouble.error is ErrorClass.AUTH and login else ""
    if finished is None and unfit(left.complaints):
        hint = "Its version may not fit: see hold doctor"
    return i.RunFinished(
        launch=launch,
        run=run,
        reason=trouble.reason,
        error=trouble.error,
        message=_with(said or _last_line(last) or _how(left.code), hint),
        resumes_at=trouble.resumes_at,
        evidence=replace(evidence, status=trouble.status, rule=trouble.rule),
    )


def _line(words: str, containing: str) -> str:
    lines = (row.strip() for row in words.splitlines())
    return next((row for row in lines if containing.lower() in row.lower()), containing)[:SHOWN]


def _last_line(words: str) -> str:
    lines = [row.strip() for row in words.splitlines() if row.strip()]
    return lines[-1] if lines else ""


def _with(message: str, hint: str) -> str:
    return f"{message.rstrip('.')}. {hint}" if hint else message


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"The agent was killed by signal {-code}."
    return INTERRUPTED if not code else f"The agent exited with code {code}."
