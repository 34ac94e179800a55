"""Short ways to say what happened, for tests about conversations."""

from holdfast.core import events as e
from holdfast.core.budget import Limits
from holdfast.core.conversation import build
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Result,
    ResultsMessage,
    TextPart,
    UserMessage,
)
from holdfast.core.session import Call, Cause, Stop, StopReason
from holdfast.core.validate import Rules

ANYBODY = Rules()


def run(number=1, *, text=None, briefing=None, input=None):
    return e.RunStarted(
        run=number, cause=Cause.PROMPT, limits=Limits(), text=text, briefing=briefing, input=input
    )


def stop(number=1, reason=StopReason.INTERRUPTED):
    return e.RunStopped(run=number, stop=Stop(reason=reason))


def call(id="c1", name="read", arguments='{"path": "a.py"}', part=1):
    return Call(id=id, name=name, arguments=arguments, part=part)


def response(number=1, text="", *calls, model="m", provider="p", signatures=()):
    """The events of one whole response."""
    said = [e.TextSaved(round=number, text=text)] if text else []
    finished = e.ResponseFinished(
        round=number, calls=calls, model=model, provider=provider, signatures=signatures
    )
    return [e.RoundStarted(round=number), *said, finished]


def done(id="c1", output="ok", attempt=1):
    return [
        e.CallIntended(call=id, attempt=attempt),
        e.CallFinished(call=id, output=output, attempt=attempt),
    ]


def messages(*events):
    return build(events).messages()


def user(text=None, number=1, *, briefing=None, input=None):
    return UserMessage(text=text, briefing=briefing, run=number, input=input)


def said(text="", number=1, *calls, partial=False, model="m", provider="p"):
    texts = (TextPart(text=text),) if text else ()
    parts = tuple(CallPart(id=c.id, name=c.name, arguments=c.arguments) for c in calls)
    if partial:
        model = provider = ""
    return AssistantMessage(
        round=number, parts=texts + parts, model=model, provider=provider, partial=partial
    )


def results(*pairs, name="read"):
    return ResultsMessage(
        results=tuple(Result(call=call_id, name=name, output=output) for call_id, output in pairs)
    )
