"""How the end of an agent's process is told."""

from holdfast.agents.acp.handshake import Unfit
from holdfast.agents.acp.transport import Connection, Gone
from holdfast.core import inputs as i
from holdfast.core.agent_errors import classify
from holdfast.core.ids import LaunchNumber, Millis
from holdfast.core.session import ErrorClass

LAST_WORDS = 600  # characters of stderr in a message


def exited(
    launch: LaunchNumber,
    connection: Connection,
    gone: Gone,
    *,
    code: int | None,
    verdict: Unfit | None,
    now: Millis,
) -> i.AgentExited:
    """`code` None: we ended it; `verdict`: why it could not be used."""
    if gone.ours and verdict is None and code is not None and code >= 0:
        code = None  # it left, or fell, because nobody listens to it any more
    last = connection.stderr().strip()[-LAST_WORDS:]
    error: ErrorClass | None = None
    if verdict is not None:
        error, message = verdict.error, verdict.message
    elif code is None:
        message = f"The agent was ended. {gone.why}"
        error = ErrorClass.UNKNOWN
    else:
        how = f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
        found = classify(last, now=now).error if code > 0 else ErrorClass.UNKNOWN
        error = found if found is not ErrorClass.UNKNOWN else None
        message = f"The agent {how}."
    seen = last or " ".join(connection.noise_seen)
    message += f" Its last words: {seen[-LAST_WORDS:]}" if seen and code != 0 else ""
    return i.AgentExited(
        launch=launch,
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        error=error,
        message=message,
    )
