"""Is this a conversation that a provider takes? Asked before every model call (SPEC B10).

One bad block makes every later request fail, for ever. So this looks at all of it, each time:

    ends       the first message is the user's; the last is the user's or results (a model goes on
               from what it was told, never from its own words)
    pairs      each call has exactly one result, in the message right after it, and no other
               message has results; no two calls share an id
    blank      no empty message, no text of white space only, no thinking at the end of a message
    thinking   only where this provider and model signed it
    letters    no half of a surrogate pair, anywhere; names and ids of letters that all accept
    arguments  a JSON object
    size       no text longer than allowed, and of a conversation that is too large no output that
               could still be cut. What then remains too large is a case for compaction.

repair.py makes any list of messages pass.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import assert_never

import msgspec

from holdfast.core.ids import CallId
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Message,
    Part,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    UserMessage,
)
from holdfast.core.value import Value

SHORTEST = 200  # no limit cuts a text below this: a cut text says how much is missing
SHORT_NAME = 64
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_DECODER = msgspec.json.Decoder(dict[str, object])


class Rules(Value):
    """What one provider demands."""

    provider: str = ""  # whose signatures are good; empty: anybody's
    model: str = ""  # as ResponseFinished recorded it; empty: any
    max_message_chars: int = 400_000  # of each text in a message
    max_total_chars: int | None = None
    thinking_needs_signature: bool = True

    @property
    def longest(self) -> int:
        return max(SHORTEST, self.max_message_chars)


class Fault(StrEnum):
    ENDS = "ends"
    PAIRS = "pairs"
    BLANK = "blank"
    THINKING = "thinking"
    LETTERS = "letters"
    ARGUMENTS = "arguments"
    SIZE = "size"


class Problem(Value):
    fault: Fault
    index: int  # of the message
    text: str


def validate(messages: Sequence[Message], *, rules: Rules) -> list[Problem]:
    found = [*_ends(messages), *_pairs(messages), *_size(messages, rules)]
    faults: Faults = []
    for index, message in enumerate(messages):
        _look_at(message, rules, faults)
        if faults:
            found += [Problem(fault=fault, index=index, text=text) for fault, text in faults]
            faults.clear()
    return sorted(found, key=lambda problem: problem.index) if found else found


# --- the tests that repair.py shares -----------------------------------------------------------


def blank(text: str | None) -> bool:
    return text is None or not text or text.isspace()


def torn(text: str) -> bool:
    """Has half of a surrogate pair, which no UTF-8 can hold."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def well_named(name: str) -> bool:
    if name.isidentifier() and name.isascii() and len(name) <= SHORT_NAME:  # most are
        return True
    return _NAME.fullmatch(name) is not None


def is_object(arguments: str) -> bool:
    """A JSON object to a strict reader: no NaN, no half surrogate, nothing too deep to read."""
    if arguments == "{}":
        return True
    try:
        _DECODER.decode(arguments)
    except (ValueError, RecursionError):
        return False
    return True


def foreign(message: AssistantMessage, rules: Rules) -> bool:
    """Signed by somebody whose signature means nothing to this provider and model."""
    return (bool(rules.provider) and message.provider != rules.provider) or (
        bool(rules.model) and message.model != rules.model
    )


def takes_back(part: ThinkingPart, message: AssistantMessage, rules: Rules) -> bool:
    if foreign(message, rules):
        return False
    if part.signature is None:
        return not rules.thinking_needs_signature and not blank(part.text)
    return True


def chars(message: Message) -> int:
    match message:
        case UserMessage():
            return len(message.text or "") + len(message.briefing or "")
        case AssistantMessage():
            return sum(_part_chars(part) for part in message.parts)
        case ResultsMessage():
            return sum(len(result.output) for result in message.results)
        case _:
            assert_never(message)


def _part_chars(part: Part) -> int:
    signature = len(part.signature or "")
    return signature + len(part.arguments if isinstance(part, CallPart) else part.text)


# --- the tests ---------------------------------------------------------------------------------


def _ends(messages: Sequence[Message]) -> Iterator[Problem]:
    if not messages:
        yield Problem(fault=Fault.ENDS, index=0, text="there are no messages")
        return
    if not isinstance(messages[0], UserMessage):
        yield Problem(fault=Fault.ENDS, index=0, text="the first message is not the user's")
    if isinstance(messages[-1], AssistantMessage):
        yield Problem(
            fault=Fault.ENDS, index=len(messages) - 1, text="the last message is the model's"
        )


def _pairs(messages: Sequence[Message]) -> Iterator[Problem]:
    seen: set[CallId] = set()
    asked: list[tuple[CallId, str]] = []
    for index, message in enumerate([*messages, None]):
        results = message.results if isinstance(message, ResultsMessage) else ()
        answered = [(result.call, result.name) for result in results]
        if asked != answered and sorted(asked) != sorted(answered):  # their order is free
            text = f"calls {asked} are followed by results of {answered}"
            yield Problem(fault=Fault.PAIRS, index=index, text=text)
        asked = []
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                asked.append((call.id, call.name))
                if call.id in seen:
                    text = f"call id {call.id} comes twice"
                    yield Problem(fault=Fault.PAIRS, index=index, text=text)
                seen.add(call.id)


def _size(messages: Sequence[Message], rules: Rules) -> Iterator[Problem]:
    if rules.max_total_chars is None:
        return
    total = sum(map(chars, messages))
    if total <= rules.max_total_chars:
        return
    for index, message in enumerate(messages):
        results = message.results if isinstance(message, ResultsMessage) else ()
        if any(len(result.output) > SHORTEST for result in results):
            text = f"{total} characters in all, and this output could be cut"
            yield Problem(fault=Fault.SIZE, index=index, text=text)
            return


Faults = list[tuple[Fault, str]]


def _look_at(message: Message, rules: Rules, faults: Faults) -> None:
    match message:
        case UserMessage():
            given = [text for text in (message.briefing, message.text) if text is not None]
            if not given or any(map(blank, given)):
                faults.append((Fault.BLANK, "a user's turn says nothing"))
            for text in given:
                _text(text, rules, faults)
        case AssistantMessage():
            if not message.parts or isinstance(message.parts[-1], ThinkingPart):
                faults.append((Fault.BLANK, "a response ends without text or call"))
            for part in message.parts:
                _part(part, message, rules, faults)
        case ResultsMessage():
            if not message.results:
                faults.append((Fault.BLANK, "no results"))
            for result in message.results:
                _name(result.call, faults)
                _name(result.name, faults)
                _text(result.output, rules, faults)
        case _:
            assert_never(message)


def _part(part: Part, message: AssistantMessage, rules: Rules, faults: Faults) -> None:
    match part:
        case TextPart():
            if blank(part.text):
                faults.append((Fault.BLANK, "a text says nothing"))
            _text(part.text, rules, faults)
        case ThinkingPart():
            if not takes_back(part, message, rules):
                faults.append((Fault.THINKING, "thinking that this provider does not take back"))
            _text(part.text, rules, faults)
        case CallPart():
            _name(part.id, faults)
            _name(part.name, faults)
            if not is_object(part.arguments):
                faults.append((Fault.ARGUMENTS, f"of call {part.id!a}: not a JSON object"))
        case _:
            assert_never(part)
    if part.signature is not None:
        if foreign(message, rules):
            faults.append((Fault.THINKING, "a signature of another provider or model"))
        if torn(part.signature):
            faults.append((Fault.LETTERS, "a signature has half a character"))


def _text(text: str, rules: Rules, faults: Faults) -> None:
    if torn(text):
        faults.append((Fault.LETTERS, "a text has half a character"))
    if len(text) > rules.longest:
        faults.append((Fault.SIZE, f"a text of {len(text)} characters"))


def _name(name: str, faults: Faults) -> None:
    if not well_named(name):
        faults.append((Fault.LETTERS, f"not a name that every provider takes: {name[:80]!a}"))
