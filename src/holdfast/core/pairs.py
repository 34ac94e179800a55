"""Each call with its result, and both under names that every provider takes. Part of repair.py.

A result goes to the call it follows; one that is astray, to the call that has none. What is right
comes back as the very same object.
"""

from collections.abc import Iterable, Sequence
from operator import is_
from typing import assert_never

from holdfast.core.ids import CallId
from holdfast.core.messages import (
    UNKNOWN,
    AssistantMessage,
    CallPart,
    Message,
    Part,
    Result,
    ResultsMessage,
    UserMessage,
)
from holdfast.core.tidy import safe_name
from holdfast.core.validate import well_named
from holdfast.core.value import replace


def pair(messages: Sequence[Message], notes: list[str]) -> list[Message]:
    near, strays = _sort_results(messages)
    paired: list[Message] = []
    for index, message in enumerate(messages):
        match message:
            case UserMessage():
                paired.append(message)
            case AssistantMessage():
                asking = _once_each(message, notes)
                paired.append(asking)
                if asking.calls:
                    following = messages[index + 1] if index + 1 < len(messages) else None
                    paired.append(_answers(asking, near[index], strays, following, notes))
            case ResultsMessage():
                if not message.results:
                    notes.append("A message without results was left out.")
            case _:
                assert_never(message)
    for call, left in strays.items():
        if left:
            notes.append(f"A result was left out: there is no call {call!a}.")
    return paired


Found = dict[CallId, list[Result]]


def _sort_results(messages: Sequence[Message]) -> tuple[dict[int, Found], Found]:
    """Results by the message they follow, where it made the call; and those that are astray."""
    near: dict[int, Found] = {}
    strays: Found = {}
    here: Found = {}
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            here = near[index] = {call.id: [] for call in message.calls}
        elif isinstance(message, ResultsMessage):
            for result in message.results:
                found = here.get(result.call)
                (found if found is not None else strays.setdefault(result.call, [])).append(result)
    return near, strays


def _once_each(message: AssistantMessage, notes: list[str]) -> AssistantMessage:
    ids = [call.id for call in message.calls]
    if len(set(ids)) == len(ids):
        return message
    seen: set[CallId] = set()
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, CallPart):
            if part.id in seen:
                notes.append(f"Call {part.id!a} was asked for twice in one message.")
                continue
            seen.add(part.id)
        parts.append(part)
    return replace(message, parts=tuple(parts))


def _answers(
    message: AssistantMessage,
    near: Found,
    strays: Found,
    following: Message | None,
    notes: list[str],
) -> ResultsMessage:
    before = len(notes)
    results = tuple([_answer(c, near[c.id] or strays.get(c.id, []), notes) for c in message.calls])
    if isinstance(following, ResultsMessage) and _same(following.results, results):
        return following
    if len(notes) == before:
        notes.append(f"Results of round {message.round} were put right after their calls.")
    return ResultsMessage(results=results)


def _same(there: Iterable[Result], wanted: Iterable[Result]) -> bool:
    return sorted(map(id, there)) == sorted(map(id, wanted))


def _answer(call: CallPart, found: list[Result], notes: list[str]) -> Result:
    """Takes what is used, so that nothing is used twice. A tool's own result before one of ours."""
    if not found:
        notes.append(f"Call {call.id!a} had no result: the model is told it is unknown.")
        return Result(call=call.id, name=call.name, output=UNKNOWN, failed=True, synthetic=True)
    if len(found) > 1:
        notes.append(f"Call {call.id!a} had {len(found)} results: one was kept.")
    result = next((r for r in found if not r.synthetic), found[0])
    found.clear()
    if result.name != call.name:
        notes.append(f"The result of call {call.id!a} bore another name.")
        return replace(result, name=call.name)
    return result


# --- names -------------------------------------------------------------------------------------


def rename(messages: list[Message], notes: list[str]) -> list[Message]:
    """No id twice, and letters that every provider takes. Each call comes before its result."""
    taken = {c.id for m in messages if isinstance(m, AssistantMessage) for c in m.calls}
    used: set[CallId] = set()
    ids: dict[CallId, CallId] = {}
    renamed: list[Message] = []
    for message in messages:
        match message:
            case UserMessage():
                renamed.append(message)
            case AssistantMessage():
                ids = {call.id: _free(call.id, taken, used) for call in message.calls}
                parts = tuple([_named(part, ids, notes) for part in message.parts])
                renamed.append(with_parts(message, parts))
            case ResultsMessage():
                results = tuple([_named_result(result, ids) for result in message.results])
                renamed.append(with_results(message, results))
            case _:
                assert_never(message)
    return renamed


def _free(id: CallId, taken: set[CallId], used: set[CallId]) -> CallId:
    free = id
    if id in used or not well_named(id):
        stem, number = safe_name(id), 1
        free = CallId(stem)
        while free in taken or free in used:
            number += 1
            free = CallId(f"{stem[:56]}-{number}")
    used.add(free)
    return free


def _named(part: Part, ids: dict[CallId, CallId], notes: list[str]) -> Part:
    if not isinstance(part, CallPart):
        return part
    sent_as, name = ids[part.id], safe_name(part.name)
    if sent_as == part.id and name == part.name:
        return part
    notes.append(f"Call {part.id!a} ({part.name!a}) is sent as {sent_as} ({name}).")
    return replace(part, id=sent_as, name=name)


def _named_result(result: Result, ids: dict[CallId, CallId]) -> Result:
    sent_as, name = ids[result.call], safe_name(result.name)
    if sent_as == result.call and name == result.name:
        return result
    return replace(result, call=sent_as, name=name)


def with_parts(message: AssistantMessage, parts: tuple[Part, ...]) -> AssistantMessage:
    same = len(parts) == len(message.parts) and all(map(is_, parts, message.parts))
    return message if same else replace(message, parts=parts)


def with_results(message: ResultsMessage, results: tuple[Result, ...]) -> ResultsMessage:
    same = all(map(is_, results, message.results))
    return message if same else replace(message, results=results)
