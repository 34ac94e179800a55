"""The session document: what every client gets of a session, in a list and alone (SPEC I5).

One shape, whether it was made from the fold or from a line of the list. Nothing is left out because
it has its default: whoever reads it need not know ours.
"""

from typing import TypedDict

from holdfast.core.actions import Standing, actions
from holdfast.core.offer import Offer, ResumeStatus
from holdfast.core.session import CallStatus, Decision, Launch, Phase, Session, State, StopReason
from holdfast.core.value import Value
from holdfast.views.asking import short
from holdfast.views.moments import rfc3339
from holdfast.views.sessions import Summary
from holdfast.views.stops import StopOut, stop_out
from holdfast.views.words import BannerOut, doing, strip


class WorkspaceOut(Value, omit_defaults=False):
    path: str
    branch: str
    repo: str = ""
    base: str = ""


class Tokens(Value, omit_defaults=False):
    input: int
    output: int


class QueuedOut(Value, omit_defaults=False):
    id: str
    text: str


class DecisionOut(Value, omit_defaults=False):
    id: str
    kind: str
    title: str  # one line
    text: str
    options: tuple[str, ...]
    call: str | None


class LaunchOut(Value, omit_defaults=False):
    number: int
    status: str
    attach: tuple[
        str, ...
    ] = ()  # what a person's terminal runs to be in the agent's; not in a list


class ProgressOut(Value, omit_defaults=False):
    """Of the run that is active. `tokens` and `cost` are its own, not the session's."""

    phase: Phase
    round: int
    tool: str | None  # the call that is being carried out
    tokens: Tokens
    cost: float
    context_used: int | None  # tokens of the last request and its response
    context_window: int | None
    started_at: str | None
    cancelling: bool


class PurgedOut(Value):
    """Removed for good. `done` false: it is written down, and will be."""

    id: str
    done: bool


class SessionOut(Value, omit_defaults=False):
    id: str
    title: str
    state: State
    agent: str
    via: str
    model: str
    mode: str
    workspace: WorkspaceOut
    stop: StopOut | None  # the one the banner shows
    last_stop: StopOut | None
    stop_seen: bool
    run: int | None
    phase: Phase
    round: int
    head: int
    agent_session_id: str | None
    pending: tuple[DecisionOut, ...]
    queue: tuple[QueuedOut, ...]
    cost: float  # US dollars
    tokens: Tokens
    launch: LaunchOut | None
    created_at: str
    updated_at: str
    pinned: bool
    tags: tuple[str, ...]
    archived: bool
    task: str | None
    actions: tuple[str, ...]  # what a person may do now: core/actions.py
    banner: BannerOut | None
    doing: str  # in a list: what it is at, or why it stopped
    needs_you: bool  # a question is open, or a stop waits for Resume or Dismiss
    unseen: bool  # a question, or a stop that nobody has seen
    progress: ProgressOut | None  # None: nothing runs
    status: ResumeStatus | None  # None: in a list, where no agent is asked
    quarantined: str | None = None  # why it may not be touched
    trashed: bool = False
    unpriced: int = 0  # responses whose price nobody knows: then the cost is at least that


class Around(Value):
    """What the fold does not know: when it was, and what the world says about it."""

    created_at: int
    updated_at: int
    run_started_at: int | None = None
    status: ResumeStatus | None = None
    offer: Offer | None = None
    context_window: int | None = None


class Offered(TypedDict):
    """What a person is shown and may do: the same, from the fold and from the list."""

    stop: StopOut | None
    last_stop: StopOut | None
    stop_seen: bool
    actions: tuple[str, ...]
    banner: BannerOut | None
    doing: str
    needs_you: bool
    unseen: bool


def _offered(
    s: Session | Summary, standing: Standing, offer: Offer | None = None, quarantined: str = ""
) -> Offered:
    stop, last = stop_out(s.stop), stop_out(s.last_stop)
    waits = stop is not None and stop.reason != StopReason.CANCELLED  # that one waits for nobody
    at = s.phase if standing.running else None
    words = doing(question=standing.asking, phase=at, last=last)
    return Offered(
        stop=stop,
        last_stop=last,
        stop_seen=s.stop_seen,
        actions=() if quarantined else actions(standing),
        banner=strip(stop, offer),
        doing="quarantined" if quarantined else words,
        needs_you=standing.asking or waits,
        unseen=standing.asking or (waits and not s.stop_seen),
    )


def _standing(s: Session) -> Standing:
    return Standing(
        state=s.state,
        running=s.run is not None,
        cancelling=s.run is not None and s.run.cancelling,
        stopped=s.stop is not None,
        asking=bool(s.decisions),
        queued=bool(s.queue),
        archived=s.archived,
        trashed=s.trashed,
    )


def document(s: Session, around: Around) -> SessionOut:
    place = s.workspace
    return SessionOut(
        id=s.id,
        title=s.title,
        state=s.state,
        agent=s.agent,
        via=s.via,
        model=s.model,
        mode=s.mode,
        workspace=WorkspaceOut(
            path=place.path, branch=place.branch, repo=place.repo, base=place.base
        ),
        run=s.run.number if s.run else None,
        phase=s.phase,
        round=s.round,
        head=s.seq,
        agent_session_id=s.token,
        pending=tuple(decision_out(d, s) for d in s.decisions),
        queue=tuple(QueuedOut(id=q.id, text=q.text) for q in s.queue),
        cost=_dollars(s.totals.cost_micros),
        unpriced=s.totals.unpriced,
        tokens=Tokens(input=s.totals.input_tokens, output=s.totals.output_tokens),
        launch=_launch(s.launch) if s.launch else None,
        created_at=rfc3339(around.created_at),
        updated_at=rfc3339(around.updated_at),
        pinned=s.pinned,
        tags=s.tags,
        archived=s.archived,
        task=s.task,
        progress=_progress(s, around),
        status=around.status,
        **_offered(s, _standing(s), around.offer),
        trashed=s.trashed,
    )


def _launch(launch: Launch) -> LaunchOut:
    handle = launch.handle
    attach: tuple[str, ...] = ()
    if handle is not None and handle.runtime == "tmux" and launch.alive:
        attach = ("tmux", "-u", "-L", handle.address, "attach-session", "-t", f"={handle.name}")
    return LaunchOut(number=launch.number, status=launch.status, attach=attach)


def listed(id: str, head: int, row: Summary, around: Around, quarantined: str = "") -> SessionOut:
    """From its line in the list. Whoever has questions or a queue is read whole instead."""
    return SessionOut(
        id=id,
        title=row.title,
        state=row.state,
        agent=row.agent,
        via=row.via,
        model=row.model,
        mode=row.mode,
        workspace=WorkspaceOut(path=row.workspace, branch=row.branch, repo=row.repo),
        run=row.run,
        phase=row.phase,
        round=row.round,
        head=head,
        agent_session_id=row.token,
        pending=(),
        queue=(),
        cost=_dollars(row.cost_micros),
        unpriced=row.unpriced,
        tokens=Tokens(input=row.input_tokens, output=row.output_tokens),
        launch=LaunchOut(number=row.launch, status="up") if row.launch is not None else None,
        created_at=rfc3339(around.created_at),
        updated_at=rfc3339(around.updated_at),
        pinned=row.pinned,
        tags=row.tags,
        archived=row.archived,
        task=row.task,
        progress=None,
        status=None,
        quarantined=quarantined or None,
        **_offered(row, _standing_in_list(row), quarantined=quarantined),
        trashed=row.trashed,
    )


def _standing_in_list(row: Summary) -> Standing:
    return Standing(
        state=row.state,
        running=row.run is not None,
        stopped=row.stop is not None,
        asking=row.pending > 0,
        queued=row.queue > 0,
        archived=row.archived,
        trashed=row.trashed,
    )


def _progress(s: Session, around: Around) -> ProgressOut | None:
    if s.run is None:
        return None
    used, at = s.run.spent.usage, around.run_started_at
    begun = (c.call.name for c in reversed(s.calls) if c.status is CallStatus.INTENDED)
    return ProgressOut(
        phase=s.phase,
        round=s.round,
        tool=next(begun, None),
        tokens=Tokens(input=used.input_tokens, output=used.output_tokens),
        cost=_dollars(used.cost_micros),
        context_used=s.context or None,
        context_window=around.context_window,
        started_at=rfc3339(at) if at is not None else None,
        cancelling=s.run.cancelling,
    )


def _dollars(micros: int) -> float:
    return micros / 1_000_000


def decision_out(d: Decision, s: Session) -> DecisionOut:
    call = next((c.call for c in s.calls if c.call.id == d.call), None)
    return DecisionOut(
        id=d.id,
        kind=d.kind,
        title=short(d, call),
        text=d.text,
        options=d.options,
        call=d.call,
    )
