"""How the events of a round change a session: the busiest part of evolve.py, whose rules hold here.

One function per event, found by its type: a long session is folded from these.
"""

from collections.abc import Callable
from typing import Any

from holdfast.core import events as e
from holdfast.core.budget import add
from holdfast.core.ids import CallId
from holdfast.core.session import (
    Call,
    CallStatus,
    EffectClass,
    OpenCall,
    Phase,
    Response,
    Session,
)
from holdfast.core.value import replace

Changes = dict[str, Any]
RESULT_KEPT = 600  # characters of a result that a briefing may quote
NOTHING = Response()


def _round_started(_s: Session, event: e.RoundStarted) -> Changes:
    return {
        "round": event.round,
        "phase": Phase.STREAMING_LLM,
        "response": NOTHING,
        "calls": (),
        "early": (),
        "granted": (),
    }


def _text_saved(s: Session, event: e.TextSaved) -> Changes:
    r = s.response
    saved = _saved(r.saved, event.part, event.offset + len(event.text))
    return {"response": Response(text=r.text + event.text, thinking=r.thinking, saved=saved)}


def _thinking_saved(s: Session, event: e.ThinkingSaved) -> Changes:
    r = s.response
    saved = _saved(r.saved, event.part, event.offset + len(event.text))
    return {"response": Response(text=r.text, thinking=r.thinking + event.text, saved=saved)}


def _saved(saved: tuple[int, ...], part: int, end: int) -> tuple[int, ...]:
    if part == len(saved):
        return (*saved, end)
    padded = saved + (0,) * (part + 1 - len(saved))
    return (*padded[:part], max(padded[part], end), *padded[part + 1 :])


def _response_finished(s: Session, event: e.ResponseFinished) -> Changes:
    changes: Changes = {
        "responses": s.responses + 1,
        "progressed": True,
        "phase": Phase.EXECUTING_TOOLS if event.calls else Phase.IDLE,
        "calls": tuple([OpenCall(call=c) for c in event.calls]),
        "messages": s.messages + (2 if event.calls else 1),
        "totals": add(s.totals, event.usage),
        "context": event.usage.tokens,
    }
    if event.message_id is not None:
        changes["message_id"] = event.message_id
    if s.run is not None:
        spent = s.run.spent
        spent = replace(spent, usage=add(spent.usage, event.usage), rounds=spent.rounds + 1)
        changes["run"] = replace(s.run, spent=spent)
    return changes


def _call_intended(s: Session, event: e.CallIntended) -> Changes:
    changes = _call(s, event.call, status=CallStatus.INTENDED, attempt=event.attempt)
    known = _known(s, event.call) if s.changed < s.round else None
    if known is not None and _changes(known.call):
        changes["changed"] = s.round
    return changes


def _changes(call: Call) -> bool:
    return call.effect is not EffectClass.PURE


def _call_finished(s: Session, event: e.CallFinished) -> Changes:
    if _known(s, event.call) is None:
        return {"early": (*s.early, event.call)}
    result = event.output[:RESULT_KEPT]
    changes = _call(s, event.call, status=CallStatus.FINISHED, result=result, failed=event.failed)
    if event.files:
        changes["touched"] = tuple(dict.fromkeys((*s.touched, *event.files)))
    changes["progressed"] = s.progressed or not event.failed
    if s.run is not None:
        spent = replace(s.run.spent, tool_calls=s.run.spent.tool_calls + 1)
        changes["run"] = replace(s.run, spent=spent)
    return changes


def _call_observed(s: Session, event: e.CallObserved) -> Changes:
    """A foreign agent's call has begun, or even ended, when we hear of it."""
    id = event.call.id
    status = CallStatus.FINISHED if id in s.early else CallStatus.INTENDED
    unsaid = s.phase is Phase.STREAMING_LLM  # its response was not said to be finished
    return {
        "messages": s.messages + (0 if s.calls else 2 if unsaid else 1),
        "calls": (*s.calls, OpenCall(call=event.call, status=status, attempt=1)),
        "early": tuple(i for i in s.early if i != id),
        "phase": Phase.EXECUTING_TOOLS,
        "changed": s.round if _changes(event.call) else s.changed,
    }


def _rerun_decided(s: Session, event: e.RerunDecided) -> Changes:
    decided = sum(c.decided for c in s.calls if c.call.id == event.call) + 1
    return _call(s, event.call, status=CallStatus.PENDING, decided=decided)


def _coder_noted(s: Session, event: e.CoderNoted) -> Changes:
    """What it spends is its parent's."""
    changes: Changes = {"coder": event.state, "totals": add(s.totals, event.usage)}
    if s.run is not None:
        spent = s.run.spent
        changes["run"] = replace(
            s.run,
            spent=replace(
                spent,
                usage=add(spent.usage, event.usage),
                tool_calls=spent.tool_calls + event.tool_calls,
            ),
        )
    return changes


def _known(s: Session, id: CallId) -> OpenCall | None:
    for call in s.calls:  # a loop: half the time of `next` over a generator
        if call.call.id == id:
            return call
    return None


def _call(s: Session, id: CallId, **changes: object) -> Changes:
    return {"calls": tuple([replace(c, **changes) if c.call.id == id else c for c in s.calls])}


CHANGES: dict[type, Callable[[Session, Any], Changes]] = {
    e.RoundStarted: _round_started,
    e.TextSaved: _text_saved,
    e.ThinkingSaved: _thinking_saved,
    e.ResponseFinished: _response_finished,
    e.ResponseDropped: lambda _s, _e: {"response": NOTHING},
    e.CallIntended: _call_intended,
    e.CallFinished: _call_finished,
    e.CallObserved: _call_observed,
    e.CallClosed: lambda s, ev: _call(
        s, ev.call, status=CallStatus.CLOSED, result=ev.output[:RESULT_KEPT], how=ev.how
    ),
    e.RerunDecided: _rerun_decided,
    e.DelegationStarted: lambda _s, _e: {"phase": Phase.DELEGATING_CODER, "coder": None},
    e.CoderNoted: _coder_noted,
    e.DelegationFinished: lambda _s, _e: {"phase": Phase.EXECUTING_TOOLS},
}
