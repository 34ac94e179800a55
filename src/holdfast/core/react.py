"""What each event owes the world. One table, read top to bottom, and one for what is no longer owed.

Rule 1: an effect follows from a recorded event, never from a decision that was not written down.
Rule 2: nothing here decides; it only says what a decision means for the world.
"""

from collections.abc import Callable
from typing import Any, assert_never

from holdfast.core import effects as f
from holdfast.core import events as e
from holdfast.core.ids import LaunchNumber
from holdfast.core.session import EffectClass, LaunchStatus, Session, StopReason


def react(s: Session, event: e.Event) -> list[f.Effect]:
    """`s` is the session after the event."""
    owes = OWES.get(type(event))
    return owes(s, event) if owes else []


def still_owed(s: Session, effect: f.Effect) -> bool:
    """Whether a debt from before a crash still makes sense. A stale one is settled unperformed."""
    match effect:
        case f.StartAgent(launch=launch):
            up = _status(s) in (LaunchStatus.READY, LaunchStatus.EXITED)
            return _launch(s) == launch and not up  # started is not ready yet
        case f.DeliverPrompt(launch=launch, run=run):
            running = s.run is not None and s.run.number == run
            return running and _launch(s) == launch and s.agent_alive
        case f.InterruptAgent(launch=launch, run=run):
            later = s.run is not None and s.run.number != run
            return not later and _launch(s) == launch and s.agent_alive
        case f.RelayAnswer(launch=launch):
            return _launch(s) == launch and s.agent_alive
        case f.TakeSnapshot(round=round):
            return round >= s.changed and not s.workspace_lost
        case f.WakeSession(timer=timer, due=due):
            return any(t.id == timer and t.due == due for t in s.timers)  # not if it was put off
        case f.RemoveWorkspace():
            return s.trashed
        case f.ReturnWorkspace():
            return not s.trashed
        case f.EraseSession():
            return s.purged
        case f.KillAgent() | f.RewindWorkspace() | f.NotifyPerson() | f.MakeFork():
            return True
        case _:
            assert_never(effect)


def _end(s: Session, event: e.RunStopped) -> list[f.Effect]:
    """An agent that has not come up cannot be interrupted, only called off."""
    if s.launch is None or not s.launch.alive:
        return []
    if s.launch.status is not LaunchStatus.READY:
        return [f.KillAgent(launch=s.launch.number)]
    if event.stop.reason in (StopReason.INTERRUPTED, StopReason.TIME_LIMIT):
        return [f.InterruptAgent(launch=s.launch.number, run=event.run)]
    return []


def _snapshot(s: Session) -> list[f.Effect]:
    return [f.TakeSnapshot(number=s.snapshot + 1, round=s.round)] if s.workspace.git else []


def _ready(s: Session) -> bool:
    return _status(s) is LaunchStatus.READY


def _launch(s: Session) -> LaunchNumber:
    return s.launch.number if s.launch else LaunchNumber(0)


def _status(s: Session) -> LaunchStatus:
    return s.launch.status if s.launch else LaunchStatus.EXITED


def _interrupt(s: Session, event: e.CancelRequested) -> list[f.Effect]:
    return [f.InterruptAgent(launch=_launch(s), run=event.run)] if _ready(s) else []


def _after_call(s: Session, event: e.CallFinished) -> list[f.Effect]:
    effect = next((c.call.effect for c in s.calls if c.call.id == event.call), EffectClass.PURE)
    return [] if effect is EffectClass.PURE else _snapshot(s)


def _kill(s: Session, _event: e.Event) -> list[f.Effect]:
    return [f.KillAgent(launch=_launch(s))] if s.agent_alive else []


def _trash(s: Session, event: e.SessionTrashed) -> list[f.Effect]:
    gone = [f.RemoveWorkspace(force=bool(event.lost))] if event.removes else []
    return [*_kill(s, event), *gone]


def _kill_if_unknown(_s: Session, event: e.LaunchExited) -> list[f.Effect]:
    """Unknown is not dead."""
    return [f.KillAgent(launch=event.launch)] if event.liveness == "unknown" else []


def _deliver(event: e.PromptDelivered) -> list[f.Effect]:
    if event.typed:
        return []
    return [f.DeliverPrompt(launch=event.launch, run=event.run, inject=event.inject)]


def _relay(s: Session, event: e.DecisionAnswered) -> list[f.Effect]:
    if not s.agent_alive:
        return []
    return [f.RelayAnswer(launch=_launch(s), decision=event.decision, answer=event.answer)]


OWES: dict[type, Callable[[Session, Any], list[f.Effect]]] = {
    e.LaunchRequested: lambda _s, ev: [f.StartAgent(launch=ev.launch, plan=ev.plan)],
    e.PromptDelivered: lambda _s, ev: _deliver(ev),
    e.CancelRequested: _interrupt,
    e.RunStopped: lambda s, ev: [*_end(s, ev), *_snapshot(s)],
    e.CallFinished: _after_call,
    e.LaunchExited: _kill_if_unknown,
    e.SessionClosed: _kill,
    e.SessionFailed: _kill,
    e.SessionTrashed: _trash,
    e.SessionRestored: lambda s, _ev: [f.ReturnWorkspace()] if s.own_tree else [],
    e.SessionPurged: lambda _s, _ev: [f.EraseSession()],
    e.SessionForked: lambda _s, ev: [f.MakeFork(child=ev.child, at=ev.at, round=ev.round)],
    e.DecisionAsked: lambda _s, ev: [f.NotifyPerson(kind=ev.decision.kind, text=ev.decision.text)],
    e.DecisionAnswered: _relay,
    e.Rewound: lambda _s, ev: [f.RewindWorkspace(round=ev.round)] if ev.code else [],
    e.WorkspaceLost: lambda _s, ev: [f.ReturnWorkspace()] if ev.wish else [],
    e.TimerSet: lambda _s, ev: [f.WakeSession(timer=ev.timer.id, due=ev.timer.due)],
}

# Named one by one, so that a new event is given a line here or above (a test says so).
QUIET: frozenset[type] = frozenset(
    {
        e.SessionOpened,
        e.SessionConfigured,
        e.SessionRenamed,
        e.SessionPinned,
        e.SessionTagged,
        e.SessionArchived,
        e.SessionReopened,
        e.InputAccepted,
        e.InputEdited,
        e.InputWithdrawn,
        e.RunStarted,
        e.StopSeen,
        e.StopDismissed,
        e.BudgetWarned,
        e.Notice,
        e.LaunchStarted,
        e.LaunchReady,
        e.Reattached,
        e.TokenLearned,
        e.TokenDropped,
        e.ContextInjected,
        e.ContextLost,
        e.RoundStarted,
        e.TextSaved,
        e.ThinkingSaved,
        e.ResponseFinished,
        e.ResponseDropped,
        e.CallObserved,
        e.CallIntended,
        e.CallClosed,
        e.RerunDecided,
        e.DelegationStarted,
        e.CoderNoted,
        e.DelegationFinished,
        e.ConversationRepaired,
        e.ConversationCompacted,
        e.WorkspaceSeen,
        e.WorkspaceSnapshotted,
        e.WorkspaceRebuilt,
        e.DecisionDismissed,
        e.PolicyFired,
        e.TimerFired,
        e.TimerCancelled,
    }
)
