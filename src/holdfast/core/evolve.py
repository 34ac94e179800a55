"""The only place a session changes: (session, event) -> session.

Rule 1: no rules. Whether something may happen was decided before it was written down.
Rule 2: total. Every event gives a session, also an odd one from a journal of another version.
Rule 3: no clock and no ids but those in the event: replaying the same events gives the same
session, always.
"""

from collections.abc import Callable, Iterable
from typing import Any, assert_never, get_args

from holdfast.core import events as e
from holdfast.core.budget import Usage, add
from holdfast.core.evolve_round import CHANGES as ROUND
from holdfast.core.evolve_round import Changes
from holdfast.core.ids import SessionId
from holdfast.core.plan import Strategy
from holdfast.core.session import (
    GRANTS,
    PERMISSION,
    Launch,
    LaunchStatus,
    Phase,
    Queued,
    Response,
    Run,
    Session,
    State,
    Stop,
    StopReason,
)
from holdfast.core.value import fields, replace

# Whether the first prompt of such a launch carries the history. Where it is not said: as it was.
INJECTS = {Strategy.INJECT: True, Strategy.FRESH: False, Strategy.REPLAY: False}


NO_CONVERSATION: Changes = {"token": None, "fork_of": None, "fork_at": None}  # with its agent
REMEMBERED = 16  # commands: whoever says one again does so when the line or the daemon is back


def evolve(session: Session, event: e.Event) -> Session:
    changes = CHANGES[type(event)](session, event)
    return replace(session, seq=session.seq + 1, **changes)


def fold(session: Session, events: Iterable[e.Event]) -> Session:
    for event in events:
        session = evolve(session, event)
    return session


def rebuild(id: SessionId, events: Iterable[e.Event]) -> Session:
    return fold(Session(id=id), events)


def _session(s: Session, event: e.SessionEvent) -> Changes:
    match event:
        case e.SessionOpened():
            return dict(opened=True, **fields(event))
        case e.SessionConfigured():
            return _handed_over(s, event) | dict(
                agent=event.agent or s.agent,
                via=event.via if event.via is not None else s.via,
                model=event.model if event.model is not None else s.model,
                mode=event.mode or s.mode,
                limits=event.limits or s.limits,
                cap=event.cap or s.cap,
            )
        case e.SessionRenamed(title=title):
            return dict(title=title)
        case e.SessionPinned(pinned=pinned):
            return dict(pinned=pinned)
        case e.SessionTagged(tags=tags):
            return dict(tags=tags)
        case e.SessionArchived(archived=archived):
            return dict(archived=archived)
        case e.SessionTrashed(at=at):
            return dict(trashed=True, trashed_at=at)
        case e.SessionRestored():
            return dict(trashed=False, trashed_at=0)
        case e.SessionPurged():
            return dict(purged=True)
        case e.SessionForked():
            return {}
        case e.SessionFailed():
            return dict(state=State.FAILED, run=None, phase=Phase.IDLE, wish=None)
        case e.SessionClosed(cancelled=cancelled):
            state = State.CANCELLED if cancelled else State.COMPLETED
            return dict(state=state, stop=None, wish=None)
        case e.SessionReopened():
            return dict(state=State.WAITING_FOR_INPUT if s.runs else State.CREATED)
        case _:
            assert_never(event)


def _handed_over(s: Session, event: e.SessionConfigured) -> Changes:
    """Another agent knows nothing of what this one remembers or can do (SPEC E14)."""
    if event.agent in (None, s.agent) and (event.via in (None, s.via) or not s.via):
        return {}
    launch = replace(s.launch, abilities=None) if s.launch else None
    return dict(**NO_CONVERSATION, past_tokens=(), message_id=None, launch=launch)


def _input(s: Session, event: e.InputEvent) -> Changes:
    match event:
        case e.InputAccepted(input=id, text=text, queued=queued):
            return dict(queue=(*s.queue, Queued(id=id, text=text))) if queued else {}
        case e.InputEdited(input=id, text=text):
            return dict(queue=tuple(replace(q, text=text) if q.id == id else q for q in s.queue))
        case e.InputWithdrawn(input=id):
            return dict(queue=tuple(q for q in s.queue if q.id != id))
        case _:
            assert_never(event)


def _run(s: Session, event: e.RunEvent) -> Changes:
    match event:
        case e.RunStarted():
            return _run_started(s, event)
        case e.PromptDelivered():
            run = replace(s.run, delivered=True) if s.run else None
            return dict(run=run, state=State.RUNNING, inject=s.inject and event.inject)
        case e.CancelRequested():
            asked = replace(s.run, cancelling=True) if s.run else None
            return dict(run=asked, **_no_wish(s))
        case e.RunStopped():
            return _run_stopped(s, event)
        case e.StopSeen():
            return dict(stop_seen=True)
        case e.StopDismissed():
            return dict(stop=None, stop_seen=True)
        case e.BudgetWarned():
            if s.run is None:
                return {}
            return dict(run=replace(s.run, spent=replace(s.run.spent, warned=True)))
        case e.Notice():
            return {}
        case _:
            assert_never(event)


def _run_started(s: Session, event: e.RunStarted) -> Changes:
    queued = next((q.text for q in s.queue if q.id == event.input), None)
    run = Run(
        number=event.run,
        cause=event.cause,
        limits=event.limits,
        input=event.input,
        text=event.text if event.text is not None else queued,
        briefing=event.briefing,
        launches=1 if s.agent_alive else 0,
    )
    return dict(
        state=State.STARTING,
        run=run,
        runs=event.run,
        continued=(*s.continued, event.command)[-REMEMBERED:] if event.command else s.continued,
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


def _run_stopped(s: Session, event: e.RunStopped) -> Changes:
    stop, last = event.stop, s.last_stop
    again = (
        stop.fingerprint is not None
        and last is not None
        and last.fingerprint == stop.fingerprint
        and not s.progressed
    )
    cut_off = s.phase is Phase.STREAMING_LLM and bool(s.response.text)
    return dict(
        state=State.WAITING_FOR_INPUT,
        run=None,
        phase=Phase.IDLE,
        last_stop=stop,
        worked_at=stop.at if s.progressed or cut_off else s.worked_at,
        stop=None if stop.reason is StopReason.COMPLETED else stop,
        stop_seen=stop.reason is StopReason.COMPLETED,
        same_error=(s.same_error + 1 if again else 1) if stop.fingerprint else 0,
        hint=event.hint,
        early=(),  # their calls will not come any more
        messages=s.messages + 1 if cut_off else s.messages,
    )


def _launch(s: Session, event: e.LaunchEvent) -> Changes:
    match event:
        case e.LaunchRequested(launch=number, plan=plan, reattach=reattach):
            known = s.launch.abilities if s.launch else None
            launch = Launch(number=number, plan=plan, reattach=reattach, abilities=known)
            run = replace(s.run, launches=s.run.launches + 1) if s.run else None
            return dict(
                launch=launch,
                launches=number,
                state=State.STARTING,
                run=run,
                inject=INJECTS.get(plan.strategy, s.inject),
            )
        case e.LaunchStarted(handle=handle):
            return _launched(s, LaunchStatus.STARTED, handle=handle)
        case e.LaunchReady(abilities=abilities):
            said = dict(abilities=abilities) if abilities else {}
            return _launched(s, LaunchStatus.READY, **said)
        case e.LaunchExited():
            return {**_launched(s, LaunchStatus.EXITED), **_idle_again(s)}
        case e.Reattached():
            return _idle_again(s)
        case e.TokenLearned(token=token):
            past = (s.token, *s.past_tokens)[:8] if s.token else s.past_tokens
            return dict(token=token, past_tokens=past, fork_of=None, fork_at=None)
        case e.TokenDropped():
            return dict(**NO_CONVERSATION, inject=True)
        case e.ContextInjected():
            return dict(inject=False)
        case e.ContextLost(why=why):
            return dict(context_lost=why, inject=True)
        case _:
            assert_never(event)


def _idle_again(s: Session) -> Changes:
    """A launch that was not for a run leaves the session as it found it."""
    waiting = s.state is State.STARTING and s.run is None
    return dict(state=State.WAITING_FOR_INPUT) if waiting else {}


def _launched(s: Session, status: LaunchStatus, **changes: object) -> Changes:
    if s.launch is None:
        return {}
    return dict(launch=replace(s.launch, status=status, **changes))


def _conversation(s: Session, event: e.ConversationEvent) -> Changes:
    match event:
        case e.ConversationRepaired():
            return {}
        case e.ConversationCompacted(kept_from=kept, usage=usage, tail=tail):
            messages = s.messages - kept + 1
            base = max(s.base_messages - kept, 0) + 1
            return dict(
                compacted_at=s.seq + 1,
                tail=tail,
                context=0,  # until the next response says how much is left
                messages=messages,
                base_messages=base,
                totals=add(s.totals, usage),
                run=_spent(s, usage),
            )
        case e.Rewound():
            if not event.conversation:
                return {}
            return _rewound(s, event)
        case _:
            assert_never(event)


def _rewound(s: Session, event: e.Rewound) -> Changes:
    """What was open or cut off in what is gone is no longer so."""
    last = s.last_stop and Stop(
        reason=StopReason.CANCELLED,
        message=f"Rewound to round {event.round}.",
        round=event.round,
        at=s.last_stop.at,
    )
    return dict(
        messages=event.message_count,
        base_messages=event.message_count,
        calls=(),
        early=(),
        granted=(),
        response=Response(),
        coder=None,
        hint=None,
        stop=None,
        stop_seen=True,
        last_stop=last,
        token=None,  # it remembers too much, and so do its earlier ones
        past_tokens=(),
        fork_of=event.token,
        fork_at=event.message_id,
        message_id=event.message_id,
        inject=event.token is None,
    )


def _spent(s: Session, usage: Usage) -> Run | None:
    if s.run is None:
        return None
    return replace(s.run, spent=replace(s.run.spent, usage=add(s.run.spent.usage, usage)))


def _workspace(s: Session, event: e.WorkspaceEvent) -> Changes:
    match event:
        case e.WorkspaceSeen(truth=truth):
            return dict(truth=truth, touched=())
        case e.WorkspaceSnapshotted(number=number):
            return dict(snapshot=number)
        case e.WorkspaceLost(wish=None, given_up=False):
            return dict(workspace_lost=True)
        case e.WorkspaceLost(wish=None):
            return dict(workspace_lost=True, **_no_wish(s))
        case e.WorkspaceLost(wish=wish):
            return dict(workspace_lost=True, wish=wish, state=State.STARTING)
        case e.WorkspaceRebuilt(workspace=workspace):
            return dict(workspace=workspace, workspace_lost=False, **_no_wish(s))
        case _:
            assert_never(event)


def _no_wish(s: Session) -> Changes:
    """It is carried out, or nothing came of it: what follows says which."""
    return dict(wish=None, state=s.wish.before) if s.wish else {}


def _decision(s: Session, event: e.DecisionEvent) -> Changes:
    match event:
        case e.DecisionAsked(decision=decision):
            return dict(decisions=(*s.decisions, decision))
        case e.DecisionAnswered():
            return _answered(s, event)
        case e.DecisionDismissed(decision=id):
            return dict(decisions=tuple(d for d in s.decisions if d.id != id))
        case e.PolicyFired():
            return {}
        case e.TimerSet(timer=timer):
            return dict(timers=(*(t for t in s.timers if t.id != timer.id), timer))
        case e.TimerFired(timer=id) | e.TimerCancelled(timer=id):
            return dict(timers=tuple(t for t in s.timers if t.id != id))
        case _:
            assert_never(event)


def _answered(s: Session, event: e.DecisionAnswered) -> Changes:
    asked = next((d for d in s.decisions if d.id == event.decision), None)
    granted = s.granted
    permission = asked is not None and asked.kind == PERMISSION
    if asked is not None and permission and asked.call and event.answer in GRANTS:
        granted = (*granted, asked.call)
    return dict(
        decisions=tuple(d for d in s.decisions if d.id != event.decision),
        always=(*s.always, event.always) if event.always else s.always,
        granted=granted,
    )


CHANGES: dict[type, Callable[[Session, Any], Changes]] = {
    kind: change
    for group, change in (
        (e.RunEvent, _run),
        (e.InputEvent, _input),
        (e.LaunchEvent, _launch),
        (e.DecisionEvent, _decision),
        (e.ConversationEvent, _conversation),
        (e.WorkspaceEvent, _workspace),
        (e.SessionEvent, _session),
    )
    for kind in get_args(group)
} | ROUND
