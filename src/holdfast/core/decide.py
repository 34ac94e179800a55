"""The rules: an input, in a state, becomes events. Nothing else decides.

Rule 1: a command may be refused, with a sentence that says why and what to do instead.
Rule 2: a report is never refused. It is news, or it is out of date and changes nothing: of an
earlier launch, of a run that is over, or said before (hear.py).
Rule 3: a prompt and a continue carry an id that their sender minted: said again, before or after a
crash, they have been done. (A prompt's is a name that the store keeps once: identity.py.)
Rule 4: what people may do is the table below. The refusal, the command line's help, the page's
buttons and the diagram in docs/reference are read from it.
"""

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.adoption import adopted
from holdfast.core.begin import call_off, cut_off, stop_run
from holdfast.core.errors import Refused
from holdfast.core.evolve import fold
from holdfast.core.hear import report
from holdfast.core.ids import InputId, RunNumber
from holdfast.core.life import check_put_away, put_away
from holdfast.core.lost import begin_or_wish
from holdfast.core.rewinding import check_round, rewind
from holdfast.core.session import QUESTION, Cause, LaunchStatus, Session, State, StopReason, Wish
from holdfast.core.value import fields

ALWAYS: frozenset[type[i.Command]] = frozenset(
    {
        i.RenameSession,
        i.PinSession,
        i.TagSession,
        i.ArchiveSession,
        i.TrashSession,
        i.RestoreSession,
        i.PurgeSession,
        i.ForkSession,
        i.MarkSeen,
    }
)
OPEN: frozenset[type[i.Command]] = ALWAYS | {
    i.ConfigureSession,
    i.SendPrompt,
    i.CloseSession,
    i.SetTimer,
    i.CancelTimer,
}
ACTIVE: frozenset[type[i.Command]] = OPEN | {
    i.EditInput,
    i.WithdrawInput,
    i.ContinueRun,  # answers "already running" and starts nothing
    i.CancelRun,
    i.Reattach,
    i.AnswerDecision,
}
WAITING: frozenset[type[i.Command]] = (ACTIVE - {i.CancelRun}) | {i.DismissStop, i.Rewind}
ALLOWS: dict[State, frozenset[type[i.Command]]] = {
    State.CREATED: OPEN,
    State.STARTING: ACTIVE,
    State.RUNNING: ACTIVE,
    State.WAITING_FOR_INPUT: WAITING,
    State.COMPLETED: ALWAYS,
    State.FAILED: ALWAYS | {i.ReopenSession},
    State.CANCELLED: ALWAYS | {i.ReopenSession},
}

INSTEAD = {
    State.COMPLETED: "It is completed: fork it (hold fork) to go on from here.",
    State.FAILED: "It has failed: `hold reopen` brings it back.",
    State.CANCELLED: "It is cancelled: `hold reopen` brings it back.",
    State.CREATED: "Nothing has run yet: send a prompt first.",
    State.WAITING_FOR_INPUT: "Nothing is running.",
}

WORDS: dict[type[i.Command], str] = {
    i.ConfigureSession: "its settings cannot be changed",
    i.SendPrompt: "it takes no prompt",
    i.EditInput: "its queue cannot be changed",
    i.WithdrawInput: "its queue cannot be changed",
    i.ContinueRun: "it cannot be continued",
    i.CancelRun: "there is no run to stop",
    i.Reattach: "its agent cannot be brought back",
    i.DismissStop: "there is no stop to dismiss",
    i.AnswerDecision: "it has no open question",
    i.Rewind: "it cannot be rewound",
    i.CloseSession: "it cannot be closed",
    i.ReopenSession: "there is nothing to reopen",
    i.SetTimer: "it takes no timer",
    i.CancelTimer: "it has no timer",
}

_REPORTS = (
    i.Heard,
    i.AgentStarted,
    i.AgentReady,
    i.AgentExited,
    i.PromptTyped,
    i.TokenRefused,
    i.RunFinished,
    i.OwnerLost,
    i.TimerDue,
    i.StartFailed,
)


def decide(session: Session, given: i.Input, facts: i.Facts) -> list[e.Event]:
    if isinstance(given, _REPORTS):
        return report(session, given, facts)
    _check(session, given)
    return _command(session, given, facts)


def wants_truth(session: Session, given: i.Input) -> bool:
    """Whether git must be asked before this can be decided (SPEC D4)."""
    match given:
        case i.ContinueRun() | i.TimerDue():
            return not session.taken and session.runs > 0
        case i.SendPrompt():
            return not session.taken and cut_off(session)
        case i.Heard(events=events):
            waits = session.wish is not None
            return waits and any(isinstance(event, e.WorkspaceRebuilt) for event in events)
        case _:
            return False


def wants_place(session: Session, given: i.Input) -> bool:
    """Whether somebody must look if the workspace is there at all (SPEC G5)."""
    match given:
        case i.Reattach(kill=True):
            return True
        case i.ContinueRun() | i.SendPrompt() | i.Reattach() | i.TimerDue():
            return not session.taken
        case i.RunFinished():
            return bool(session.queue)  # the next one begins at once
        case _:
            return False


def wants_losses(session: Session, given: i.Input) -> bool:
    """Whether somebody must look what would go with the work tree (SPEC H2)."""
    return isinstance(given, i.TrashSession) and session.own_tree and not session.trashed


def _check(session: Session, command: i.Command) -> None:
    name = type(command).__name__
    if isinstance(command, i.OpenSession | i.AdoptConversation):
        if session.opened:
            raise Refused(f"Session {session.id} exists already.")
        return
    if not session.opened:
        raise Refused(f"There is no session {session.id}.", "`hold ls` lists them.")
    check_put_away(session, command)
    if type(command) not in ALLOWS[session.state]:
        raise Refused(
            f"Session {session.id} is {session.state}: {WORDS.get(type(command), name)} now.",
            INSTEAD.get(session.state, ""),
        )


def _command(s: Session, command: i.Command, facts: i.Facts) -> list[e.Event]:
    match command:
        case i.SendPrompt():
            return _send(s, command, facts)
        case i.ContinueRun():
            return _continue(s, command, facts)
        case i.CancelRun():
            return _cancel(s, facts, kill=command.kill)
        case i.Reattach(kill=kill):
            return _reattach(s, facts, kill=kill)
        case i.CloseSession(cancelled=cancelled):
            stopped = stop_run(s, facts, reason=StopReason.CANCELLED) if s.run else []
            return [*call_off(s), *stopped, e.SessionClosed(cancelled=cancelled)]
        case i.AnswerDecision():
            return _answer(s, command)
        case i.EditInput(input=id, text=text):
            return [e.InputEdited(input=_queued(s, id), text=text)]
        case i.WithdrawInput(input=id):
            return [e.InputWithdrawn(input=_queued(s, id))]
        case i.Rewind():
            return rewind(s, command)
        case i.DismissStop():
            return [e.StopDismissed()] if s.stop else []
        case i.MarkSeen(by=by):
            return [] if s.stop_seen else [e.StopSeen(by=by)]
        case i.SetTimer(timer=timer):
            return [e.TimerSet(timer=timer)]
        case i.CancelTimer(timer=id):
            return [e.TimerCancelled(timer=id)] if any(t.id == id for t in s.timers) else []
        case _:
            return _label(s, command, facts)


def _label(s: Session, command: i.Command, facts: i.Facts) -> list[e.Event]:
    match command:
        case i.OpenSession():
            return [e.SessionOpened(**fields(command))]
        case i.ConfigureSession():
            return _configure(s, command)
        case i.AdoptConversation(opened=opened, token=token, turns=turns):
            begun = e.SessionOpened(**fields(opened))
            return [begun, *adopted(turns, token=token, now=facts.now)]
        case i.ForkSession(child=child, round=round):
            check_round(s, round or 0)
            return [e.SessionForked(child=child, at=s.seq, round=round)]
        case i.ReopenSession():
            return [e.SessionReopened()]
        case _:
            return put_away(s, command, facts)


def _configure(s: Session, command: i.ConfigureSession) -> list[e.Event]:
    """An agent that is handed its session's work to another one has to be gone first."""
    stays = command.agent in (None, s.agent) and command.via in (None, s.via)
    if not stays and s.taken:
        raise Refused(f"Session {s.id} is running: its agent cannot be changed now.", STOP_FIRST)
    return [*([] if stays else call_off(s)), e.SessionConfigured(**fields(command))]


STOP_FIRST = "Stop it first (hold stop)."


def _send(s: Session, command: i.SendPrompt, facts: i.Facts) -> list[e.Event]:
    """A prompt while a run is active waits its turn; after a stop it goes before the queue."""
    waits = s.taken or facts.lost is not None
    accepted = e.InputAccepted(input=command.input, text=command.text, queued=waits)
    if s.taken:
        return [accepted]
    wish = Wish(cause=Cause.PROMPT, input=command.input, text=command.text, limits=command.limits)
    return [accepted, *begin_or_wish(s, facts, wish)]


def _continue(s: Session, command: i.ContinueRun, facts: i.Facts) -> list[e.Event]:
    if s.taken or command.command in s.continued:
        return []  # a second resume starts nothing; nor does one that is said again
    if s.runs == 0:
        raise Refused(f"Session {s.id} has nothing to continue.", INSTEAD[State.CREATED])
    wish = Wish(
        cause=Cause.POLICY if command.by_policy else Cause.CONTINUE,
        message=command.message,
        limits=command.limits,
        rerun=command.rerun,
        fresh=command.fresh,
        command=command.command,
    )
    return begin_or_wish(s, facts, wish)


def _cancel(s: Session, facts: i.Facts, *, kill: bool) -> list[e.Event]:
    """An agent that is at work is asked to stop and says so itself; one that is still starting
    is called off at once. What has not begun yet never does."""
    if s.wish is not None:
        return [e.CancelRequested(run=RunNumber(s.runs + 1))]
    if s.run is None:
        return []
    ready = s.launch is not None and s.launch.status is LaunchStatus.READY
    asked: list[e.Event] = [] if s.run.cancelling else [e.CancelRequested(run=s.run.number)]
    if ready and s.run.delivered and not kill:
        return asked
    return [*asked, *call_off(s), *stop_run(s, facts, reason=StopReason.CANCELLED)]


def _answer(s: Session, command: i.AnswerDecision) -> list[e.Event]:
    """The answer to a model's question is its call's result, written with it: whoever asked may be
    dead by now, and finds it when it comes back."""
    asked = next((d for d in s.decisions if d.id == command.decision), None)
    if asked is None:
        raise Refused(f"Question {command.decision} is not open: it was answered or withdrawn.")
    always = command.always or (asked.program if command.answer == "always" else "")
    answered = e.DecisionAnswered(
        decision=asked.id, answer=command.answer, by=command.by, always=always or None
    )
    waiting = asked.kind == QUESTION and any(c.call.id == asked.call for c in s.open_calls)
    if not waiting or asked.call is None:
        return [answered]
    return [answered, e.CallFinished(call=asked.call, output=command.answer)]


def _reattach(s: Session, facts: i.Facts, *, kill: bool) -> list[e.Event]:
    """Brings the agent back, idle. Costs nothing, decides nothing (SPEC G5)."""
    ended = (_cancel(s, facts, kill=True) or call_off(s)) if kill else []
    s = fold(s, ended)
    if s.agent_alive or s.taken or not facts.abilities.needs_process:
        return ended
    if s.launches == 0 and s.comes_back_to is None:
        raise Refused(f"Session {s.id} was never started.", INSTEAD[State.CREATED])
    return [*ended, *begin_or_wish(s, facts, Wish(cause=None))]


def _queued(s: Session, id: InputId) -> InputId:
    if all(q.id != id for q in s.queue):
        raise Refused(f"Input {id} is not in the queue: it was delivered or withdrawn.")
    return id
