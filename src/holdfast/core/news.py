"""Is what an adapter says news? One function per kind of event that may be reported.

`news` gives back what is to be journaled: the event, the new part of it, or nothing.
"""

from typing import assert_never, get_args

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import CallId
from holdfast.core.session import CallStatus, OpenCall, Phase, Session
from holdfast.core.value import replace


def news(s: Session, event: i.Reportable) -> list[e.Event]:
    if isinstance(event, ROUND):  # nearly all of them
        return _in_run(s, event) if s.run is not None else []
    match event:
        case e.Notice():
            return [event]
        case e.WorkspaceSeen() | e.WorkspaceRebuilt():
            return [event]
        case e.WorkspaceLost(given_up=given_up):
            return [event] if given_up or not s.workspace_lost else []
        case e.WorkspaceSnapshotted(number=number):
            return [event] if number > s.snapshot else []
        case e.TokenLearned(token=token):
            return [event] if token != s.token else []
        case e.ContextInjected():
            return [event] if s.inject else []
        case e.ContextLost(why=why):
            return [event] if s.context_lost != why else []
        case e.DecisionDismissed(decision=id):
            return [event] if any(d.id == id for d in s.decisions) else []
        case _:
            return _in_run(s, event) if s.run is not None else []


ROUND = get_args(e.RoundEvent)
InRun = (
    e.RoundEvent
    | e.ConversationRepaired
    | e.ConversationCompacted
    | e.DecisionAsked
    | e.BudgetWarned
)


def _in_run(s: Session, event: InRun) -> list[e.Event]:
    match event:
        case e.TextSaved() | e.ThinkingSaved():
            return _piece(s, event)
        case e.RoundStarted(round=round):
            again = round == s.round and s.phase is Phase.STREAMING_LLM and not s.response.text
            return [event] if round == s.round + 1 or (again and event.attempt > 1) else []
        case e.ResponseFinished(round=round) | e.ResponseDropped(round=round):
            return [event] if round == s.round and s.phase is Phase.STREAMING_LLM else []
        case e.CallObserved(round=round, call=call):
            return [event] if round == s.round and not _find(s, call.id) else []
        case e.CallIntended(call=id, attempt=attempt):
            return [event] if _may_begin(_find(s, id), attempt) else []
        case e.CallFinished(call=id):
            return _result(s, id, event)
        case e.CallClosed(call=id):
            known = _find(s, id)
            return [event] if known and known.status in _OPEN else []
        case e.RerunDecided():
            return []  # a decision, not news
        case e.DelegationStarted() | e.CoderNoted() | e.DelegationFinished():
            return [event]
        case e.ConversationRepaired() | e.ConversationCompacted():
            return [event]
        case e.DecisionAsked(decision=asked):
            known = _find(s, asked.call) if asked.call else None
            settled = known is not None and known.status not in _OPEN
            return [] if settled or any(d.id == asked.id for d in s.decisions) else [event]
        case e.BudgetWarned(run=run):
            fresh = s.run is not None and s.run.number == run and not s.run.spent.warned
            return [event] if fresh else []
        case _:
            assert_never(event)


_OPEN = (CallStatus.PENDING, CallStatus.INTENDED)


def _find(s: Session, id: CallId) -> OpenCall | None:
    return next((c for c in s.calls if c.call.id == id), None)


def _may_begin(call: OpenCall | None, attempt: int) -> bool:
    """Promise P4: begun at most once, plus once per recorded decision to run it again."""
    return (
        call is not None
        and call.status is CallStatus.PENDING
        and attempt == call.attempt + 1
        and call.attempt < 1 + call.decided
    )


def _result(s: Session, id: CallId, event: e.CallFinished) -> list[e.Event]:
    call = _find(s, id)
    if call is None:  # it overtook its call
        return [] if id in s.early else [event]
    return [event] if call.status is CallStatus.INTENDED else []


def _piece(s: Session, event: e.TextSaved | e.ThinkingSaved) -> list[e.Event]:
    """Only what was not saved before. A piece beyond the end is kept as it is: its place is known."""
    if event.round != s.round or s.phase is not Phase.STREAMING_LLM:
        return []
    saved = s.response.saved[event.part] if event.part < len(s.response.saved) else 0
    if event.offset >= saved:
        return [event] if event.text else []
    rest = event.text[saved - event.offset :]
    return [replace(event, text=rest, offset=saved)] if rest else []
