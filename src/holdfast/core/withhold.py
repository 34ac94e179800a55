"""What of an event may be written down: everything but secrets (SPEC C6).

Rule 1: in a call's arguments, in its result and in evidence, what stands under a name like `password`
        goes, at any depth. The call itself is run with what the model wrote.
Rule 2: a secret that is known by its value goes wherever it stands, except in names and ids of our
        own (`EXEMPT`): those are how things are found again.
Rule 3: streamed text keeps its length. Pieces are merged by their offsets.
"""

import json
from collections.abc import Callable
from enum import Enum
from typing import Any

import msgspec

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.redact import mask_text, redact_arguments, redact_text
from holdfast.core.session import Call
from holdfast.core.value import fields, replace

EXEMPT = frozenset(
    [
        "action",
        "address",
        "agent",
        "base",
        "blob",
        "boot",
        "branch",
        "by",
        "call",
        "child",
        "commit",
        "decision",
        "head",
        "host",
        "id",
        "input",
        "kind",
        "limit",
        "liveness",
        "message_id",
        "mode",
        "model",
        "name",
        "path",
        "provider",
        "repo",
        "runtime",
        "session",
        "start",
        "timer",
        "token",
        "trigger",
        "value",
        "via",
        "what",
        "workspace",
    ]
)
NOBODYS: frozenset[str] = frozenset()
WORD = 16  # letters; a "key" that is a shorter word ("ollama") is none


def known_secret(value: str) -> bool:
    """Whether a value can be looked for without taking ordinary words out of every text."""
    return len(value) >= 8 and not (value.isalpha() and len(value) < WORD)  # noqa: PLR2004


def withhold(event: e.Event, secrets: frozenset[str] = NOBODYS) -> e.Event:
    """The very same event where nothing is found, which is nearly always."""
    by_name = NAMED.get(type(event))
    if by_name is not None:
        event = by_name(event, secrets)
    if not secrets or not _may_hold(event, secrets):
        return event
    if isinstance(event, e.TextSaved | e.ThinkingSaved):
        return replace(event, text=mask_text(event.text, secrets=secrets))
    return _walk(event, secrets)  # type: ignore[no-any-return]


def withheld(given: i.Input, secrets: frozenset[str]) -> i.Input:
    """The same for what comes in, before anything is made of its words (a stop's fingerprint). What
    an adapter heard is taken event by event, when it is known what of it is news."""
    if not secrets or isinstance(given, i.Heard) or not _may_hold(given, secrets):
        return given
    return _walk(given, secrets)  # type: ignore[no-any-return]


def _response(event: e.ResponseFinished, secrets: frozenset[str]) -> e.ResponseFinished:
    calls = tuple(_call(call, secrets) for call in event.calls)
    return event if calls == event.calls else replace(event, calls=calls)


def _observed(event: e.CallObserved, secrets: frozenset[str]) -> e.CallObserved:
    call = _call(event.call, secrets)
    return event if call is event.call else replace(event, call=call)


def _call(call: Call, secrets: frozenset[str]) -> Call:
    arguments = redact_arguments(call.arguments, secrets=secrets)
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def _result(event: e.CallFinished | e.CallClosed, secrets: frozenset[str]) -> e.Event:
    output = redact_arguments(event.output, secrets=secrets)
    return event if output == event.output else replace(event, output=output)


def _stopped(event: e.RunStopped, secrets: frozenset[str]) -> e.RunStopped:
    evidence = event.stop.evidence
    detail = evidence.detail and redact_arguments(evidence.detail, secrets=secrets)
    if detail == evidence.detail:
        return event
    return replace(event, stop=replace(event.stop, evidence=replace(evidence, detail=detail)))


NAMED: dict[type, Callable[[Any, frozenset[str]], e.Event]] = {
    e.ResponseFinished: _response,
    e.CallObserved: _observed,
    e.CallFinished: _result,
    e.CallClosed: _result,
    e.RunStopped: _stopped,
}


def _may_hold(said: e.Event | i.Input, secrets: frozenset[str]) -> bool:
    """A look at all of it at once. A secret that JSON writes in another way is looked for closely."""
    body = msgspec.json.encode(said)
    return any(json.dumps(s)[1:-1] != s or s.encode() in body for s in secrets)


def _walk(value: Any, secrets: frozenset[str]) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return redact_text(value, secrets=secrets)
    if isinstance(value, tuple):
        return tuple(_walk(item, secrets) for item in value)
    if isinstance(value, msgspec.Struct):
        known = fields(value)
        found = {
            n: v if n in EXEMPT and isinstance(v, str) else _walk(v, secrets)
            for n, v in known.items()
        }
        changed = {n: v for n, v in found.items() if v != known[n]}
        return replace(value, **changed) if changed else value
    return value
