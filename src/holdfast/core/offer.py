"""What a person is offered: a status, the card of an interrupted session, what is taken along when many
come back at once.

Rule 1: an offer decides nothing. It is asked again at the click, since things may have moved.
Rule 2: what the user stopped, put away or dismissed is not offered again.
Rule 3: whatever is left out says why, in words that fit after "skipped:".
How an offer that was taken is carried out is in resume.py.
"""

from enum import StrEnum
from typing import assert_never

from holdfast.core.ids import Millis
from holdfast.core.plan import Abilities
from holdfast.core.session import CallStatus, Session, State, Stop, StopReason
from holdfast.core.truth import Drift, NoTruth, Truth, drift, same_place
from holdfast.core.value import Value

# --- can it, and does it need to (SPEC G4) ------------------------------------------------------


class StatusReason(StrEnum):
    ARCHIVED = "archived"
    TERMINAL = "terminal"
    RUNNING = "running"
    RECENTLY_SEEN = "recently_seen"
    NOT_STARTED = "not_started"
    ERROR_UNSEEN = "error_unseen"
    AGENT_NOT_RUNNING = "agent_not_running"
    AGENT_NOT_RUNNING_FRESH_START = "agent_not_running_fresh_start"


class ResumeStatus(Value):
    state: State
    is_agent_running: bool
    is_resumable: bool
    needs_resume: bool
    reason: StatusReason


def status(
    session: Session, *, agent_alive: bool, leased: bool, abilities: Abilities
) -> ResumeStatus:
    """The table of SPEC G4, row by row; the first that matches."""
    idle_needs_none = not abilities.needs_process
    last, launched = session.last_stop, session.launches > 0
    failed = last is not None and last.reason is StopReason.ERROR
    can_come_back = session.comes_back_to is not None or (idle_needs_none and session.runs > 0)
    # condition, reason, resumable, needs resume
    rows = (
        (session.archived or session.trashed, StatusReason.ARCHIVED, False, False),
        (session.terminal, StatusReason.TERMINAL, False, False),
        (agent_alive, StatusReason.RUNNING, False, False),
        (leased, StatusReason.RECENTLY_SEEN, False, False),
        (session.state is State.CREATED and not launched, StatusReason.NOT_STARTED, False, False),
        (failed and not session.stop_seen, StatusReason.ERROR_UNSEEN, True, False),
        (can_come_back, StatusReason.AGENT_NOT_RUNNING, True, True),
        (launched, StatusReason.AGENT_NOT_RUNNING_FRESH_START, True, True),
        (True, StatusReason.NOT_STARTED, False, False),  # a prompt will start it
    )
    _, reason, resumable, needs = next(row for row in rows if row[0])
    return ResumeStatus(
        state=session.state,
        is_agent_running=agent_alive,
        is_resumable=resumable,
        needs_resume=needs and not idle_needs_none,
        reason=reason,
    )


# --- is it offered, is it taken along (SPEC D2, I1) ----------------------------------------------


NO_BRANCH = "no branch"  # a detached HEAD


class OfferKind(StrEnum):
    RESUME = "resume"
    RESUME_ANYWAY = "resume_anyway"
    NONE = "none"


class Offer(Value):
    kind: OfferKind
    reason: str = ""  # the line on the card, or why there is none


def offer(
    session: Session, now: Truth | NoTruth, *, at: Millis, disposable_max_age_ms: int | None
) -> Offer:
    """Whether an interrupted session is offered. Asked again at the click: things may have moved."""
    stop = session.stop
    why = _not_interrupted(session) or _cannot_look(session, now)
    if not why and stop and disposable_max_age_ms is not None:
        old = at - stop.at > disposable_max_age_ms
        why = "its runtime was disposable and is too old" if old else ""
    if why:
        return Offer(kind=OfferKind.NONE, reason=why)
    if isinstance(now, NoTruth):
        return Offer(kind=OfferKind.RESUME, reason="The workspace is gone" if now.missing else "")
    if drift_of(session, now) is Drift.BRANCH_MOVED:
        was = session.truth.branch if session.truth else session.workspace.branch
        changed = f"Branch changed from {was or NO_BRANCH} to {now.branch or NO_BRANCH}"
        return Offer(kind=OfferKind.RESUME_ANYWAY, reason=changed)
    return Offer(kind=OfferKind.RESUME)


def drift_of(session: Session, now: Truth | NoTruth) -> Drift | None:
    """Drift as this session's journal sees it; None if git could not answer."""
    finished = [c.call for c in session.calls if c.status is CallStatus.FINISHED]
    others = [c.call for c in session.calls if c.status is not CallStatus.FINISHED]
    return drift(
        workspace=session.workspace,
        before=session.truth,
        now=now,
        ours=frozenset(file for call in others for file in call.files),
        settled=frozenset((*session.touched, *(file for call in finished for file in call.files))),
    )


def _not_interrupted(session: Session) -> str:
    stop = session.stop
    if session.archived or session.trashed or session.terminal:
        return "it is put away"
    if (session.run is not None and session.run.cancelling) or (
        stop is not None and stop.reason is StopReason.CANCELLED
    ):
        return "the user had stopped it"
    if stop is None or stop.reason is not StopReason.INTERRUPTED:
        return "it is not interrupted"
    return ""


def _cannot_look(session: Session, now: Truth | NoTruth) -> str:
    if isinstance(now, Truth):
        return "" if same_place(session.workspace, now) else "this is another workspace"
    if session.workspace.git and not now.missing:
        return f"git could not answer: {now.error}"
    return ""


def in_bulk(session: Session, *, now: Millis) -> str | None:
    """Why `hold resume --all` skips this session; None: it is continued."""
    last = session.last_stop
    if session.trashed:
        return "it is in the trash"
    if session.archived:
        return "it is archived"
    if last is None:
        return "it has not run yet"
    if session.state is not State.WAITING_FOR_INPUT:
        return f"it is {session.state}"
    return _stays_stopped(last, now) or _put_off(session)


def _stays_stopped(last: Stop, now: Millis) -> str | None:
    match last.reason:
        case StopReason.COMPLETED:
            return "it is completed"
        case StopReason.CANCELLED:
            return "the user stopped it"
        case StopReason.RATE_LIMITED:
            if last.resumes_at is None:
                return "when its rate limit resets is not known"
            return "its rate limit has not reset" if last.resumes_at > now else None
        case (
            StopReason.INTERRUPTED
            | StopReason.ERROR
            | StopReason.BUDGET_EXCEEDED
            | StopReason.TOOL_LIMIT
            | StopReason.ROUND_LIMIT
            | StopReason.TIME_LIMIT
        ):
            return None
        case _:
            assert_never(last.reason)


def _put_off(session: Session) -> str | None:
    if session.decisions:
        return "a question is open"
    return "its stop was dismissed" if session.stop is None else None


# --- agents, without a run (SPEC I1) --------------------------------------------------------------


def stays_down(
    session: Session, *, abilities: Abilities, there: bool | None, kill: bool
) -> str | None:
    """Why `hold agent resume` skips this session; None: its agent is brought back."""
    alive = session.agent_alive or session.run is not None
    forgotten = not abilities.needs_process and there is False
    rows = (
        (session.trashed, "it is in the trash"),
        (session.archived, "it is archived"),
        (session.terminal, f"it is {session.state}"),
        (abilities.replay, "the built-in agent needs no process"),
        (session.launches == 0 and session.comes_back_to is None, "its agent was never started"),
        (alive and not kill, "agent is running (use --kill)"),
        (forgotten, "its record of the conversation is gone (the next prompt brings the history)"),
    )
    return next((why for holds, why in rows if holds), None)
