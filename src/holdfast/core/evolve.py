"""The only place a session changes: (session, event) -> session.

Rule 1: no rules. Whether something may happen was decided before it was written down.
Rule 2: total. Every event gives a session, also an odd one from a journal of another version.
Rule 3: no clock and no ids but those in the event: replaying the same events gives the same
session, always.
"""

from collections.abc import Callable, Iterable
from typing import Any, assert_never, get_args

from holdfast.core import events as e
from holdfast.core.budget import add
from holdfast.core.evolve_round import evolve_round
from holdfast.core.ids import Seq, SessionId
from holdfast.core.session import (
    Launch,
    LaunchStatus,
    Phase,
    Queued,
    Response,
    Run,
    Session,
    State,
    StopReason,
)
from holdfast.core.value import fields, replace


def evolve(session: Session, event: e.Event) -> Session:
    return _GROUPS[type(event)](replace(session, seq=Seq(session.seq + 1)), event)


def fold(session: Session, events: Iterable[e.Event]) -> Session:
    for event in events:
        session = evolve(session, event)
    return session


def rebuild(id: SessionId, events: Iterable[e.Event]) -> Session:
    return fold(Session(id=id), events)


def _session(s: Session, event: e.SessionEvent) -> Session:
    match event:
        case e.SessionOpened():
            return replace(s, opened=True, **fields(event))
        case e.SessionConfigured():
            return replace(
                s,
                agent=event.agent or s.agent,
                via=event.via if event.via is not None else s.via,
                model=event.model or s.model,
                mode=event.mode or s.mode,
                limits=event.limits or s.limits,
                cap=event.cap or s.cap,
            )
        case e.SessionRenamed(title=title):
            return replace(s, title=title)
        case e.SessionPinned(pinned=pinned):
            return replace(s, pinned=pinned)
        case e.SessionTagged(tags=tags):
            return replace(s, tags=tags)
        case e.SessionArchived(archived=archived):
            return replace(s, archived=archived)
        case e.SessionTrashed():
            return replace(s, trashed=True)
        case e.SessionRestored():
            return replace(s, trashed=False)
        case e.SessionForked():
            return s
        case e.SessionFailed():
            return replace(s, state=State.FAILED, run=None, phase=Phase.IDLE)
        case e.SessionClosed(cancelled=cancelled):
            return replace(s, state=State.CANCELLED if cancelled else State.COMPLETED, stop=None)
        case e.SessionReopened():
            return replace(s, state=State.WAITING_FOR_INPUT if s.runs else State.CREATED)
        case _:
            assert_never(event)


def _input(s: Session, event: e.InputEvent) -> Session:
    match event:
        case e.InputAccepted(input=id, text=text, queued=queued):
            return replace(s, queue=(*s.queue, Queued(id=id, text=text))) if queued else s
        case e.InputEdited(input=id, text=text):
            return replace(
                s, queue=tuple(replace(q, text=text) if q.id == id else q for q in s.queue)
            )
        case e.InputWithdrawn(input=id):
            return replace(s, queue=tuple(q for q in s.queue if q.id != id))
        case _:
            assert_never(event)


def _run(s: Session, event: e.RunEvent) -> Session:
    match event:
        case e.RunStarted():
            return _run_started(s, event)
        case e.PromptDelivered():
            run = replace(s.run, delivered=True) if s.run else None
            return replace(s, run=run, state=State.RUNNING, inject=False)
        case e.CancelRequested():
            return replace(s, run=replace(s.run, cancelling=True) if s.run else None)
        case e.RunStopped():
            return _run_stopped(s, event)
        case e.StopSeen():
            return replace(s, stop_seen=True)
        case e.StopDismissed():
            return replace(s, stop=None, stop_seen=True)
        case e.BudgetWarned():
            if s.run is None:
                return s
            return replace(s, run=replace(s.run, spent=replace(s.run.spent, warned=True)))
        case e.Notice():
            return s
        case _:
            assert_never(event)


def _run_started(s: Session, event: e.RunStarted) -> Session:
    queued = next((q.text for q in s.queue if q.id == event.input), None)
    run = Run(
        number=event.run,
        cause=event.cause,
        limits=event.limits,
        input=event.input,
        text=event.text if event.text is not None else queued,
        briefing=event.briefing,
    )
    return replace(
        s,
        state=State.STARTING,
        run=run,
        runs=event.run,
        queue=tuple(q for q in s.queue if q.id != event.input),
        stop=None,
        stop_seen=True,
        progressed=False,
        hint=None,
        phase=Phase.STARTING,
        response=Response(),
        coder=None,
        base_messages=s.messages,
        messages=s.messages + 1,
    )


def _run_stopped(s: Session, event: e.RunStopped) -> Session:
    stop, last = event.stop, s.last_stop
    again = (
        stop.fingerprint is not None
        and last is not None
        and last.fingerprint == stop.fingerprint
        and not s.progressed
    )
    cut_off = s.phase is Phase.STREAMING_LLM and bool(s.response.text)
    return replace(
        s,
        state=State.WAITING_FOR_INPUT,
        run=None,
        phase=Phase.IDLE,
        last_stop=stop,
        stop=None if stop.reason is StopReason.COMPLETED else stop,
        stop_seen=stop.reason is StopReason.COMPLETED,
        same_error=(s.same_error + 1 if again else 1) if stop.fingerprint else 0,
        hint=event.hint,
        messages=s.messages + 1 if cut_off else s.messages,
    )


def _launch(s: Session, event: e.LaunchEvent) -> Session:
    match event:
        case e.LaunchRequested(launch=number, plan=plan, reattach=reattach):
            launch = Launch(number=number, plan=plan, reattach=reattach)
            return replace(s, launch=launch, launches=number, state=State.STARTING)
        case e.LaunchStarted(handle=handle):
            return _launched(s, LaunchStatus.STARTED, handle=handle)
        case e.LaunchReady():
            return _launched(s, LaunchStatus.READY)
        case e.LaunchExited():
            s = _launched(s, LaunchStatus.EXITED)
            idle = s.state is State.STARTING and s.run is None
            return replace(s, state=State.WAITING_FOR_INPUT) if idle else s
        case e.Reattached():
            idle = s.state is State.STARTING and s.run is None
            return replace(s, state=State.WAITING_FOR_INPUT) if idle else s
        case e.TokenLearned(token=token):
            past = (s.token, *s.past_tokens)[:8] if s.token else s.past_tokens
            return replace(s, token=token, past_tokens=past)
        case e.TokenDropped():
            return replace(s, token=None, inject=True)
        case e.ContextInjected():
            return replace(s, inject=False)
        case e.ContextLost(why=why):
            return replace(s, context_lost=why, inject=True)
        case _:
            assert_never(event)


def _launched(s: Session, status: LaunchStatus, **changes: object) -> Session:
    if s.launch is None:
        return s
    return replace(s, launch=replace(s.launch, status=status, **changes))


def _conversation(s: Session, event: e.ConversationEvent) -> Session:
    match event:
        case e.ConversationRepaired():
            return s
        case e.ConversationCompacted(kept_from=kept, usage=usage):
            messages = s.messages - kept + 1
            base = max(s.base_messages - kept, 0) + 1
            totals = add(s.totals, usage)
            return replace(
                s, compacted_at=s.seq, messages=messages, base_messages=base, totals=totals
            )
        case e.Rewound(conversation=conversation, message_count=count):
            if not conversation:
                return s
            return replace(
                s, messages=count, base_messages=count, calls=(), response=Response(), stop=None
            )
        case _:
            assert_never(event)


def _workspace(s: Session, event: e.WorkspaceEvent) -> Session:
    match event:
        case e.WorkspaceSeen(truth=truth):
            return replace(s, truth=truth)
        case e.WorkspaceSnapshotted(number=number):
            return replace(s, snapshot=number)
        case e.WorkspaceLost():
            return replace(s, workspace_lost=True)
        case e.WorkspaceRebuilt(workspace=workspace):
            return replace(s, workspace=workspace, workspace_lost=False)
        case _:
            assert_never(event)


def _decision(s: Session, event: e.DecisionEvent) -> Session:
    match event:
        case e.DecisionAsked(decision=decision):
            return replace(s, decisions=(*s.decisions, decision))
        case e.DecisionAnswered(decision=id, always=always):
            remembered = (*s.always, always) if always else s.always
            pending = tuple(d for d in s.decisions if d.id != id)
            return replace(s, decisions=pending, always=remembered)
        case e.DecisionDismissed(decision=id):
            return replace(s, decisions=tuple(d for d in s.decisions if d.id != id))
        case e.PolicyFired():
            return s
        case e.TimerSet(timer=timer):
            return replace(s, timers=(*(t for t in s.timers if t.id != timer.id), timer))
        case e.TimerFired(timer=id) | e.TimerCancelled(timer=id):
            return replace(s, timers=tuple(t for t in s.timers if t.id != id))
        case _:
            assert_never(event)


_GROUPS: dict[type, Callable[[Session, Any], Session]] = {
    kind: change
    for group, change in (
        (e.RoundEvent, evolve_round),
        (e.RunEvent, _run),
        (e.InputEvent, _input),
        (e.LaunchEvent, _launch),
        (e.DecisionEvent, _decision),
        (e.ConversationEvent, _conversation),
        (e.WorkspaceEvent, _workspace),
        (e.SessionEvent, _session),
    )
    for kind in get_args(group)
}
