"""How the events of a round change a session: the busiest part of evolve.py, whose rules hold here."""

from typing import assert_never

from holdfast.core import events as e
from holdfast.core.budget import add
from holdfast.core.ids import CallId
from holdfast.core.session import Call, CallStatus, OpenCall, Phase, Response, Session
from holdfast.core.value import replace

RESULT_KEPT = 600  # characters of a result that a briefing may quote


def evolve_round(s: Session, event: e.RoundEvent) -> Session:
    match event:
        case e.TextSaved(text=text, part=part, offset=offset):
            r = s.response
            saved = _saved(r.saved, part, offset + len(text))
            return replace(s, response=replace(r, text=r.text + text, saved=saved))
        case e.ThinkingSaved(text=text, part=part, offset=offset):
            r = s.response
            saved = _saved(r.saved, part, offset + len(text))
            return replace(s, response=replace(r, thinking=r.thinking + text, saved=saved))
        case e.RoundStarted(round=round):
            return replace(
                s, round=round, phase=Phase.STREAMING_LLM, response=Response(), calls=(), early=()
            )
        case e.ResponseFinished():
            return _response_finished(s, event)
        case e.ResponseDropped():
            return replace(s, response=Response())
        case e.CallIntended(call=id, attempt=attempt):
            return _call(s, id, status=CallStatus.INTENDED, attempt=attempt)
        case e.CallFinished():
            return _call_finished(s, event)
        case e.CallObserved(call=call):
            return _call_observed(s, call)
        case e.CallClosed(call=id, output=output):
            return _call(s, id, status=CallStatus.CLOSED, result=output[:RESULT_KEPT])
        case e.RerunDecided(call=id):
            decided = sum(c.decided for c in s.calls if c.call.id == id) + 1
            return _call(s, id, status=CallStatus.PENDING, decided=decided)
        case e.DelegationStarted():
            return replace(s, phase=Phase.DELEGATING_CODER, coder=None)
        case e.CoderNoted(state=state):
            return replace(s, coder=state)
        case e.DelegationFinished():
            return replace(s, phase=Phase.EXECUTING_TOOLS)
        case _:
            assert_never(event)


def _saved(saved: tuple[int, ...], part: int, end: int) -> tuple[int, ...]:
    padded = saved + (0,) * (part + 1 - len(saved))
    return (*padded[:part], max(padded[part], end), *padded[part + 1 :])


def _response_finished(s: Session, event: e.ResponseFinished) -> Session:
    run = s.run
    if run is not None:
        usage = add(run.spent.usage, event.usage)
        run = replace(run, spent=replace(run.spent, usage=usage, rounds=run.spent.rounds + 1))
    return replace(
        s,
        run=run,
        totals=add(s.totals, event.usage),
        responses=s.responses + 1,
        progressed=True,
        phase=Phase.EXECUTING_TOOLS if event.calls else Phase.STARTING,
        calls=tuple(OpenCall(call=c) for c in event.calls),
        message_id=event.message_id or s.message_id,
        messages=s.messages + (2 if event.calls else 1),
    )


def _call_observed(s: Session, call: Call) -> Session:
    early = call.id in s.early
    opened = OpenCall(
        call=call, status=CallStatus.FINISHED if early else CallStatus.INTENDED, attempt=1
    )
    return replace(
        s,
        calls=(*s.calls, opened),
        early=tuple(i for i in s.early if i != call.id),
        phase=Phase.EXECUTING_TOOLS,
    )


def _call_finished(s: Session, event: e.CallFinished) -> Session:
    if all(c.call.id != event.call for c in s.calls):
        return replace(s, early=(*s.early, event.call))
    s = _call(s, event.call, status=CallStatus.FINISHED, result=event.output[:RESULT_KEPT])
    run = s.run
    if run is not None:
        run = replace(run, spent=replace(run.spent, tool_calls=run.spent.tool_calls + 1))
    return replace(s, run=run, progressed=s.progressed or not event.failed)


def _call(s: Session, id: CallId, **changes: object) -> Session:
    calls = tuple(replace(c, **changes) if c.call.id == id else c for c in s.calls)
    return replace(s, calls=calls)
