"""Makes any conversation one that a provider takes, and says what it changed (SPEC B10).

Rule 1: whatever comes in, what comes out passes `validate`; repairing it again changes nothing.
Rule 2: what is right is not touched: the very same objects come out, and nothing is reported.
Rule 3: nothing is made up. A missing result says that the outcome is unknown; a text that was cut
        says by how much; what is left out is reported. The journal keeps all of it.
Rule 4: the same fault gives the same words each time, so a caller can see which repairs are news.

The faults are listed in validate.py. Thinking that was signed by another provider or model goes,
the rest of its message stays: so a session may change its model at any point.
"""

from collections.abc import Sequence
from operator import is_not
from typing import assert_never

from holdfast.core.ids import CallId
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Message,
    Part,
    Result,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    UserMessage,
)
from holdfast.core.pairs import pair, rename, with_parts, with_results
from holdfast.core.tidy import cut, mend, mend_arguments
from holdfast.core.validate import (
    SHORTEST,
    Rules,
    blank,
    chars,
    foreign,
    is_object,
    takes_back,
    torn,
    validate,
)
from holdfast.core.value import replace

BEGIN = "[The earlier part of this conversation is not available.]"
GO_ON = "[Continue from where you left off.]"
RAW_KEPT = 500  # characters of arguments that no reader takes, quoted in the result


def repair(messages: Sequence[Message], *, rules: Rules) -> tuple[list[Message], list[str]]:
    if not validate(messages, rules=rules):
        return list(messages), []
    notes: list[str] = []
    paired = pair(messages, notes)
    named = rename(paired, notes)
    cleaned = _clean(named, rules, notes)
    ended = _end(cleaned, notes)
    return _shrink(ended, rules, notes), notes


# --- what each message says --------------------------------------------------------------------


def _clean(messages: list[Message], rules: Rules, notes: list[str]) -> list[Message]:
    cleaned: list[Message] = []
    unread: dict[CallId, str] = {}  # arguments that no reader takes; their result quotes them
    for message in messages:
        match message:
            case UserMessage():
                said = _clean_user(message, rules, notes)
                if said is not None:
                    cleaned.append(said)
            case AssistantMessage():
                unread = {c.id: c.arguments for c in message.calls if not is_object(c.arguments)}
                parts = _clean_parts(message, rules, notes)
                if parts:
                    cleaned.append(with_parts(message, parts))
            case ResultsMessage():
                results = tuple([_clean_result(r, unread, rules, notes) for r in message.results])
                cleaned.append(with_results(message, results))
            case _:
                assert_never(message)
    return cleaned


def _clean_user(message: UserMessage, rules: Rules, notes: list[str]) -> UserMessage | None:
    where = f"The user's turn of run {message.run}" if message.run else "A user's turn"
    text = _clean_text(message.text, where, rules, notes)
    briefing = _clean_text(message.briefing, where, rules, notes)
    if text is None and briefing is None:
        notes.append(f"{where} was left out: it says nothing.")
        return None
    if text is message.text and briefing is message.briefing:
        return message
    return replace(message, text=text, briefing=briefing)


def _clean_text(text: str | None, where: str, rules: Rules, notes: list[str]) -> str | None:
    if text is None:
        return None
    if blank(text):
        notes.append(f"{where} had an empty part.")
        return None
    return _fit(text, where, rules, notes)


def _fit(text: str, where: str, rules: Rules, notes: list[str]) -> str:
    mended = mend(text)
    if mended is not text:
        notes.append(f"{where} had half a character.")
    fitting = cut(mended, rules.longest)
    if fitting is not mended:
        notes.append(f"{where} had {len(mended)} characters: it was cut.")
    return fitting


def _clean_parts(
    message: AssistantMessage, rules: Rules, notes: list[str]
) -> tuple[Part, ...] | None:
    """None where neither text nor call is left."""
    where = f"The response of round {message.round}"
    parts: list[Part] = []
    for part in message.parts:
        kept = _clean_part(part, message, where, rules, notes)
        if kept is not None:
            parts.append(kept)
    while parts and isinstance(parts[-1], ThinkingPart):
        parts.pop()
        notes.append(f"{where} ended with thinking: it was left out.")
    if not parts:
        notes.append(f"{where} was left out: it says nothing.")
        return None
    return tuple(parts)


def _clean_part(
    part: Part, message: AssistantMessage, where: str, rules: Rules, notes: list[str]
) -> Part | None:
    match part:
        case TextPart():
            text = _clean_text(part.text, where, rules, notes)
            if text is None:
                return None
            changed: TextPart | CallPart = part if text is part.text else replace(part, text=text)
        case ThinkingPart():
            # A signature covers every letter: what would have to be changed has to go.
            fit = takes_back(part, message, rules) and _as_it_is(part, rules)
            if not fit:
                notes.append(f"{where} had thinking that is not signed for this model.")
            return part if fit else None
        case CallPart():
            arguments = mend_arguments(part.arguments) or "{}"
            changed = part
            if arguments != part.arguments:
                notes.append(f"Call {part.id} had arguments that are not a JSON object.")
                changed = replace(part, arguments=arguments)
        case _:
            assert_never(part)
    if part.signature is not None and (foreign(message, rules) or torn(part.signature)):
        notes.append(f"{where} had a signature that is not good here.")
        return replace(changed, signature=None)
    return changed


def _as_it_is(part: ThinkingPart, rules: Rules) -> bool:
    return not (torn(part.text) or torn(part.signature or "") or len(part.text) > rules.longest)


def _clean_result(
    result: Result, unread: dict[CallId, str], rules: Rules, notes: list[str]
) -> Result:
    output = result.output
    raw = unread.get(result.call)
    if raw is not None and mend_arguments(raw) is None:
        output = f"[The arguments were not a JSON object: {cut(raw, RAW_KEPT)}]\n{output}"
    output = _fit(output, f"The result of call {result.call}", rules, notes)
    return result if output is result.output else replace(result, output=output)


# --- the whole ---------------------------------------------------------------------------------


def _end(messages: list[Message], notes: list[str]) -> list[Message]:
    if messages and not isinstance(messages[0], UserMessage):
        notes.append("The conversation did not begin with the user: a line was put in front.")
        messages = [UserMessage(briefing=BEGIN), *messages]
    if not messages or isinstance(messages[-1], AssistantMessage):
        notes.append("The conversation did not end with the user or results: a line was added.")
        messages = [*messages, UserMessage(briefing=GO_ON)]
    return messages


def _shrink(messages: list[Message], rules: Rules, notes: list[str]) -> list[Message]:
    """The oldest outputs first, until it fits or none is left to cut."""
    over = sum(map(chars, messages)) - (rules.max_total_chars or 0)
    if rules.max_total_chars is None or over <= 0:
        return messages
    shrunk: list[Message] = []
    for message in messages:
        if isinstance(message, ResultsMessage):
            results: list[Result] = []
            for result in message.results:
                output = cut(result.output, SHORTEST) if over > 0 else result.output
                over -= len(result.output) - len(output)
                results.append(
                    replace(result, output=output) if output != result.output else result
                )
            shrunk.append(with_results(message, tuple(results)))
        else:
            shrunk.append(message)
    if any(map(is_not, shrunk, messages)):
        notes.append("The conversation was too large: the oldest outputs were cut.")
    return shrunk
