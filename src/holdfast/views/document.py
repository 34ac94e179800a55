"""The session document: what every client gets of a session, in a list and alone (SPEC I5).

One shape, whether it was made from the fold or from a line of the list. Nothing is left out because
it has its default: whoever reads it need not know ours.
"""

from holdfast.core.session import Decision, Phase, Session, State, Stop
from holdfast.core.value import Value
from holdfast.views.moments import rfc3339
from holdfast.views.sessions import Summary


class StopOut(Value, omit_defaults=False, rename={"error": "class"}):
    """SPEC A4, with moments as text."""

    reason: str
    error: str | None
    message: str
    phase: str
    round: int
    at: str
    resumes_at: str | None
    percent: int | None
    evidence: dict[str, object]
    fingerprint: str | None


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
    text: str
    options: tuple[str, ...]
    call: str | None


class LaunchOut(Value, omit_defaults=False):
    number: int
    status: str


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
    quarantined: str | None = None  # why it may not be touched


class Times(Value):
    """What the fold does not know: when it began and last changed."""

    created_at: int
    updated_at: int


def document(s: Session, times: Times) -> SessionOut:
    workspace = s.workspace
    return SessionOut(
        id=s.id,
        title=s.title,
        state=s.state,
        agent=s.agent,
        via=s.via,
        model=s.model,
        mode=s.mode,
        workspace=WorkspaceOut(
            path=workspace.path, branch=workspace.branch, repo=workspace.repo, base=workspace.base
        ),
        stop=stop_out(s.stop),
        last_stop=stop_out(s.last_stop),
        stop_seen=s.stop_seen,
        run=s.run.number if s.run else None,
        phase=s.phase,
        round=s.round,
        head=s.seq,
        agent_session_id=s.token,
        pending=tuple(decision_out(d) for d in s.decisions),
        queue=tuple(QueuedOut(id=q.id, text=q.text) for q in s.queue),
        cost=s.totals.cost_micros / 1_000_000,
        tokens=Tokens(input=s.totals.input_tokens, output=s.totals.output_tokens),
        launch=LaunchOut(number=s.launch.number, status=s.launch.status) if s.launch else None,
        created_at=rfc3339(times.created_at),
        updated_at=rfc3339(times.updated_at),
        pinned=s.pinned,
        tags=s.tags,
        archived=s.archived,
        task=s.task,
    )


def listed(id: str, head: int, row: Summary, times: Times, quarantined: str = "") -> SessionOut:
    """From its line in the list. Whoever has questions or a queue is read whole instead."""
    return SessionOut(
        id=id,
        title=row.title,
        state=row.state,
        agent=row.agent,
        via=row.via,
        model=row.model,
        mode=row.mode,
        workspace=WorkspaceOut(path=row.workspace, branch=row.branch),
        stop=stop_out(row.stop),
        last_stop=stop_out(row.last_stop),
        stop_seen=row.stop_seen,
        run=row.run,
        phase=row.phase,
        round=row.round,
        head=head,
        agent_session_id=row.token,
        pending=(),
        queue=(),
        cost=row.cost_micros / 1_000_000,
        tokens=Tokens(input=row.input_tokens, output=row.output_tokens),
        launch=LaunchOut(number=row.launch, status="up") if row.launch is not None else None,
        created_at=rfc3339(times.created_at),
        updated_at=rfc3339(times.updated_at),
        pinned=row.pinned,
        tags=row.tags,
        archived=row.archived,
        task=row.task,
        quarantined=quarantined or None,
    )


def stop_out(stop: Stop | None) -> StopOut | None:
    if stop is None:
        return None
    evidence = stop.evidence
    seen = {name: getattr(evidence, name) for name in evidence.__struct_fields__}
    return StopOut(
        reason=stop.reason,
        error=stop.error,
        message=stop.message,
        phase=stop.phase,
        round=stop.round,
        at=rfc3339(stop.at),
        resumes_at=rfc3339(stop.resumes_at) if stop.resumes_at is not None else None,
        percent=stop.percent,
        evidence={name: value for name, value in seen.items() if value not in (None, False)},
        fingerprint=stop.fingerprint,
    )


def decision_out(d: Decision) -> DecisionOut:
    return DecisionOut(id=d.id, kind=d.kind, text=d.text, options=d.options, call=d.call)
