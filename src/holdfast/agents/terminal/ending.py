"""How a turn, or a program in a terminal, ended: from what is left of it."""

import time
from collections.abc import Sequence

from holdfast.agents.terminal.beside import Over
from holdfast.agents.terminal.screen import lowest
from holdfast.core import inputs as i
from holdfast.core.agent_errors import classify
from holdfast.core.ids import LaunchNumber, Millis, RunNumber
from holdfast.core.session import ErrorClass, Evidence, StopReason
from holdfast.core.value import Value

SHOWN = 600  # characters of a screen in a message


def over_report(over: Over, *, launch: LaunchNumber, run: RunNumber, now: Millis) -> i.RunFinished:
    if over.cancelled:
        return i.RunFinished(launch=launch, run=run, reason=StopReason.CANCELLED)
    if not over.failed:
        return i.RunFinished(launch=launch, run=run, reason=StopReason.COMPLETED)
    trouble = classify(over.message, now=now, status=over.status, utc_offset_ms=utc_offset_ms())
    return i.RunFinished(
        launch=launch,
        run=run,
        reason=trouble.reason,
        error=trouble.error,
        message=over.message,
        resumes_at=trouble.resumes_at,
        evidence=Evidence(status=trouble.status, rule=trouble.rule),
    )


class Ending(Value):
    """What is left of a program: its exit, and the last of its screen."""

    code: int | None
    signal: int | None
    screen: str

    def report(self, launch: LaunchNumber, *, now: Millis) -> i.AgentExited:
        said = last_line(self.screen)
        error = classify(self.screen[-SHOWN:], now=now, utc_offset_ms=utc_offset_ms()).error
        known = error is not ErrorClass.UNKNOWN and bool(self.code)
        return i.AgentExited(
            launch=launch,
            exit_code=self.code,
            signal=self.signal,
            error=error if known else None,
            message=said if self.code else "",
        )


def last_words(screen: str, containing: Sequence[str]) -> str:
    """The line of the screen that has one of these in it."""
    rows = [row.strip() for row in screen.splitlines()]
    wanted = [words.lower() for words in containing]
    return next((row for row in rows if any(w in row.lower() for w in wanted)), "")[:SHOWN]


def complaint(screen: str, beginnings: Sequence[str]) -> str:
    """The last row that begins to say what went wrong, and those below it."""
    rows = lowest(screen)
    found = [n for n, row in enumerate(rows) if any(words in row for words in beginnings)]
    return "\n".join(rows[found[-1] :])[:SHOWN] if found else ""


def last_line(screen: str) -> str:
    rows = [row.strip() for row in screen.splitlines() if row.strip()]
    return rows[-1][:SHOWN] if rows else ""


def utc_offset_ms() -> int:
    return (time.localtime().tm_gmtoff or 0) * 1000
