"""What an agent is sent: the prompt of a run, and in front of it, where it has lost its own memory, ours.

Rule 1: the history is injected once, on the first prompt after the memory was lost (SPEC E12).
Rule 2: messages are cut at 2000 characters, results at 500. If the whole is still too long, the first
        prompt and the newest turns stay, and a line says how much is left out.
Rule 3: what was said is quoted, never obeyed: a line of the past that looks like one of our headings
        is marked as a quotation.
Rule 4: our own briefings of earlier runs are left out: they spoke of a workspace that has moved on.
"""

import re
from collections.abc import Iterator, Sequence

from holdfast.core.ids import RunNumber
from holdfast.core.messages import AssistantMessage, CallPart, Message, ResultsMessage, UserMessage

MESSAGE_CUT, RESULT_CUT = 2000, 500
TOTAL_CUT = 60_000
TRUNCATED = "... [truncated]"
CONTINUED = "(asked to continue)"

_OURS = re.compile(
    r"^(?==== |RESUME CONTEXT FOR|\[(?:USER|ASSISTANT|TOOL CALL|TOOL RESULT)\b)", re.MULTILINE
)
_INSTRUCTIONS = (
    "You are continuing work on the above task. The history above is a record of what was said and "
    "done so far; answer the current request. Do not repeat work that was already completed."
)


def prompt(*, briefing: str | None, text: str | None) -> str:
    """One user turn: our briefing, if there is one, then the user's words (SPEC D11)."""
    return "\n\n".join(part for part in (briefing, text) if part)


def before(messages: Sequence[Message], run: RunNumber) -> list[Message]:
    """The conversation without the turn that began `run`, and what came after it."""
    for place, message in enumerate(messages):
        if isinstance(message, UserMessage) and message.run == run:
            return list(messages[:place])
    return list(messages)


def inject(history: Sequence[Message], request: str, *, cap: int = TOTAL_CUT) -> str:
    """The request with the history in front of it. Without history, the request as it is."""
    entries = [entry for message in history for entry in _entries(message)]
    if not entries:
        return request
    kept = "\n".join(_fitting(entries, cap))
    return (
        "RESUME CONTEXT FOR CONTINUING TASK\n\n"
        f"=== EXECUTION HISTORY ===\n{kept}\n\n"
        f"=== CURRENT REQUEST ===\n{request}\n\n"
        f"=== INSTRUCTIONS ===\n{_INSTRUCTIONS}"
    )


def arrived(sent: str, replayed: Sequence[str]) -> bool | None:
    """Whether a prompt reached the agent, by the user turns that it replays (SPEC A9, E3).

    None: it replays nothing, so nothing is proved. Agents cut, merge and wrap what they were sent, so
    it counts as arrived where its beginning stands anywhere in a turn: in doubt it is not sent twice.
    """
    if not replayed:
        return None
    opening = _plain(sent)[:200]
    return any(opening in _plain(turn) for turn in replayed)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _entries(message: Message) -> Iterator[str]:
    match message:
        case UserMessage(text=text, briefing=briefing, summarised=summarised):
            if summarised:
                yield f"[ASSISTANT]: (summary so far) {_cut(briefing or '', MESSAGE_CUT)}"
            else:
                yield f"[USER]: {_cut(text or CONTINUED, MESSAGE_CUT)}"
        case AssistantMessage():
            if message.text.strip():
                yield f"[ASSISTANT]: {_cut(message.text, MESSAGE_CUT)}"
            for part in message.parts:
                if isinstance(part, CallPart):
                    yield f"[TOOL CALL: {_name(part.name)}]"
        case ResultsMessage(results=results):
            for result in results:
                yield f"[TOOL RESULT: {_name(result.name)}] {_cut(result.output, RESULT_CUT)}"


def _name(name: str) -> str:
    """One line, and nothing that closes the bracket."""
    return " ".join(name.replace("]", ")").split())[:80]


def _cut(text: str, limit: int) -> str:
    text = text.strip()
    kept = text if len(text) <= limit else text[:limit] + TRUNCATED
    return _OURS.sub("> ", kept)


def _fitting(entries: list[str], cap: int) -> list[str]:
    """The first and as many of the newest as fit."""
    if sum(len(entry) + 1 for entry in entries) <= cap:
        return entries
    first, room = entries[0], cap - len(entries[0])
    newest: list[str] = []
    for entry in reversed(entries[1:]):
        room -= len(entry) + 1
        if room < 0:
            break
        newest.append(entry)
    left_out = len(entries) - 1 - len(newest)
    return [first, f"... [{left_out} entries left out]", *reversed(newest)]
