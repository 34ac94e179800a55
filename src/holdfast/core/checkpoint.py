"""Where we were: what is needed to continue a run, read off the journal (SPEC C).

Rule 1: a view, not a store. Everything here follows from the session and its conversation; what
        only the caller knows (the time, a saved diff) comes in as an argument.
Rule 2: there is one while a run is active, and after a stop that may be resumed. Normal completion,
        a resume (the next run has its own) and a dismissal clear it; an error or an abort keeps it.
Rule 3: a response that was cut off is in `accumulated`, not among the messages.
Rule 4: over 50 KB the oldest messages of the run are left out, two at least stay, and `trimmed`
        says how many went. The journal loses nothing.
"""

from collections.abc import Sequence

import msgspec

from holdfast.core.ids import Millis, RoundNumber, RunNumber, SessionId
from holdfast.core.messages import AssistantMessage, Message, ResultsMessage, UserMessage
from holdfast.core.session import CoderState, Phase, Session, State, Stop, StopReason
from holdfast.core.truth import Workspace
from holdfast.core.value import Value

DELTA_BYTES = 50 * 1024
FEWEST = 2


class Place(Value):
    """Which workspace this is about: checked before anything is resumed (SPEC D2)."""

    id: str
    branch: str
    repo: str


class Checkpoint(Value):
    # No field has a default: a default would not be written, and this is served whole.
    session: SessionId
    run: RunNumber
    round: RoundNumber
    phase: Phase
    base_message_count: int
    delta_messages: tuple[Message, ...]
    accumulated: str
    thinking_accumulated: str
    coder_delegation_active: bool
    last_coder_state: CoderState | None
    saved_at: Millis
    provider: str
    model: str
    workspace: Place
    user_aborted: bool
    saved_diff: str | None
    reason: StopReason | None  # None: the run is active
    trimmed: int


def checkpoint(
    session: Session,
    messages: Sequence[Message],
    *,
    saved_at: Millis,
    saved_diff: str | None = None,
    provider: str = "",
) -> Checkpoint | None:
    """`messages` is the whole conversation. None: there is nothing to come back to."""
    stop = None if session.run else session.stop
    if _cleared(session, stop):
        return None
    phase = stop.phase if stop else session.phase
    streaming = phase is Phase.STREAMING_LLM
    delegating = phase is Phase.DELEGATING_CODER
    base = _base(session, messages)
    delta, trimmed = _trim([m for m in messages[base:] if not _cut_off(m)])
    return Checkpoint(
        session=session.id,
        run=session.run.number if session.run else RunNumber(session.runs),
        round=stop.round if stop and stop.round else session.round,
        phase=phase,
        base_message_count=base,
        delta_messages=delta,
        accumulated=session.response.text if streaming else "",
        thinking_accumulated=session.response.thinking if streaming else "",
        coder_delegation_active=delegating,
        last_coder_state=session.coder if delegating else None,
        saved_at=saved_at,
        provider=provider or session.model.partition(":")[0],
        model=session.model,
        workspace=_place(session.workspace),
        user_aborted=_aborted(session, stop),
        saved_diff=saved_diff,
        reason=stop.reason if stop else None,
        trimmed=trimmed,
    )


def _place(workspace: Workspace) -> Place:
    return Place(id=workspace.id, branch=workspace.branch, repo=workspace.repo)


def _cleared(session: Session, stop: Stop | None) -> bool:
    if session.run is not None:
        return False
    done = session.state is State.COMPLETED
    return done or stop is None or stop.reason is StopReason.COMPLETED


def _aborted(session: Session, stop: Stop | None) -> bool:
    if session.run is not None:
        return session.run.cancelling
    return stop is not None and stop.reason is StopReason.CANCELLED


def _base(session: Session, messages: Sequence[Message]) -> int:
    """How many messages came before the run. The user's turn that began it knows its run; where it
    has none, or was summarised, the session's own count stands in."""
    number = session.run.number if session.run else session.runs
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage) and message.run == number:
            return index
    return min(session.base_messages, len(messages))


def _cut_off(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and message.partial


def _trim(delta: list[Message]) -> tuple[tuple[Message, ...], int]:
    sizes = [len(msgspec.json.encode(message)) for message in delta]
    size, trimmed = sum(sizes), 0
    while len(delta) - trimmed > FEWEST and (
        size > DELTA_BYTES or (trimmed > 0 and isinstance(delta[trimmed], ResultsMessage))
    ):
        size -= sizes[trimmed]
        trimmed += 1
    return tuple(delta[trimmed:]), trimmed
