"""When a conversation is summarised, where it is cut, and what a model then gets instead (SPEC B9).

Rule 1: the recent tail stays word for word, and no call is cut from its result: the place is one that
        the conversation allows.
Rule 2: a summary that would stand for next to nothing is not worth a request.
Rule 3: what the user last asked for in the part that goes is kept in the user's own words.
"""

from collections.abc import Sequence

from holdfast.core.briefing import one_line
from holdfast.core.conversation import Conversation
from holdfast.core.messages import AssistantMessage, Message, UserMessage

NEAR = 80  # percent of the window
TAIL, SHORT_TAIL = 6, 2  # messages that stay; the second where the first would still be too much
FEWEST = 3  # messages
WORDS_KEPT, TEXT_KEPT, CALLS_KEPT, CALL_KEPT = 4000, 2000, 30, 120

INSTRUCTION = (
    "The conversation is about to exceed your context. Summarise all of it so far for yourself: the "
    "summary will stand in its place. Say what the user wants, what was decided and why, what was "
    "done (files, commands, results that matter), what failed, and what is left to do. Call no tool; "
    "answer with the summary alone."
)
OPENING = (
    "[CONVERSATION_SUMMARISED]\n"
    "The conversation before this point was too long and is replaced by this summary:"
)
LAST_WORDS = "The user's last words before this point:"
PLAIN = "It was too long even to be summarised. The last that was said and done in it:"


def due(context: int, *, window: int) -> bool:
    """`context` is what the last request and its response held; a window of 0 is not watched."""
    return window > 0 and context * 100 >= window * NEAR


def place(conversation: Conversation, *, tail: int = TAIL) -> int | None:
    """The message from which on it is kept; None: it is not worth it."""
    cut = conversation.cut_at(max(0, len(conversation.messages()) - tail))
    return cut if cut >= FEWEST else None


def told(summary: str, head: Sequence[Message]) -> str:
    """What stands in place of `head`."""
    words = _last_words(head)
    parts = [OPENING, summary.strip(), *([f"{LAST_WORDS}\n{words}"] if words else [])]
    return "\n\n".join(parts)


def plain_summary(head: Sequence[Message]) -> str:
    """Without a model."""
    responses = [m for m in head if isinstance(m, AssistantMessage)]
    calls = [f"- {c.name} {c.arguments}"[:CALL_KEPT] for m in responses for c in m.calls]
    said = next((m.text for m in reversed(responses) if m.text), "")
    return "\n".join([PLAIN, *map(one_line, calls[-CALLS_KEPT:]), said[-TEXT_KEPT:]])


def _last_words(head: Sequence[Message]) -> str:
    """An earlier summary remembers those that it stands for."""
    for message in reversed(head):
        if isinstance(message, UserMessage):
            if message.text:
                return message.text[:WORDS_KEPT]
            if message.summarised and message.briefing:
                return message.briefing.partition(f"{LAST_WORDS}\n")[2]
    return ""
