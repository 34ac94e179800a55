"""An agent's own record of a conversation, as signs of what it is at.

The words are read by `agents/transcripts`. Beside them a record says, each in its own way, what a
response cost and that a turn is over; what it does not say is found out otherwise (seat.py).
"""

from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.agents.oneshot.json_lines import number, sub, text
from holdfast.agents.oneshot.read_claude import usage
from holdfast.agents.transcripts.lines import text_of
from holdfast.agents.transcripts.scan import READERS
from holdfast.core.adoption import Turn, UserSaid
from holdfast.core.budget import Usage
from holdfast.core.value import Value

INTERRUPTED = "[Request interrupted by user"
# What Claude writes in the user's name for its own commands.
NOT_A_PROMPT = ("<command-", "<local-command", "<bash-", "<task-notification")


class About(Value):
    """Of the response whose words come with it."""

    usage: Usage = Usage()
    model: str = ""
    message_id: str | None = None


class Over(Value):
    """The turn has ended. `soft`: unless more follows at once."""

    soft: bool = False
    cancelled: bool = False
    failed: bool = False
    message: str = ""
    status: int | None = None


Sign = Turn | About | Over
_any = msgspec.json.Decoder(dict[str, Any])


class RecordReader:
    def __init__(self, format: str) -> None:
        self._reader = READERS[format]()
        self._beside = BESIDE.get(format, _nothing)

    @property
    def id(self) -> str:
        return self._reader.about.id

    @property
    def folder(self) -> str:
        return self._reader.about.folder

    def read(self, line: bytes) -> list[Sign]:
        """May raise one of `transcripts.lines.UNREADABLE`."""
        turns = self._reader.feed(line)
        beside = self._beside(line)
        about = [sign for sign in beside if isinstance(sign, About)]
        over = [sign for sign in beside if isinstance(sign, Over)]
        return [*about, *(t for t in turns if _said(t)), *over]


def _said(turn: Turn) -> bool:
    return not (isinstance(turn, UserSaid) and turn.text.startswith((INTERRUPTED, *NOT_A_PROMPT)))


def _claude(line: bytes) -> list[About | Over]:
    found = _any.decode(line)
    message = sub(found, "message")
    if found.get("isSidechain") or not message:
        return []
    if found.get("isApiErrorMessage"):
        said, status = text_of(message.get("content")), number(found.get("apiErrorStatus"))
        return [Over(failed=True, message=said, status=status or None)]
    if found.get("type") == "user":
        cut = text_of(message.get("content")).startswith(INTERRUPTED)
        return [Over(cancelled=True)] if cut else []
    if found.get("type") != "assistant" or message.get("model") == "<synthetic>":
        return []
    about = About(
        usage=usage(sub(message, "usage")),
        model=text(message.get("model")),
        message_id=text(message.get("id")) or None,
    )
    last = message.get("stop_reason") in ("end_turn", "stop_sequence", "max_tokens", "refusal")
    return [about, *([Over(soft=True)] if last and text_of(message.get("content")) else [])]


def _codex(line: bytes) -> list[About | Over]:
    found = _any.decode(line)
    said = sub(found, "payload")
    if found.get("type") != "event_msg":
        return []
    match said.get("type"):
        case "task_complete":
            return [Over()]
        case "turn_aborted":
            return [Over(cancelled=True)]
        case "error":
            return [Over(failed=True, message=text(said.get("message")))]
        case _:
            return []


def _nothing(_line: bytes) -> list[About | Over]:
    return []


BESIDE: dict[str, Callable[[bytes], list[About | Over]]] = {"claude": _claude, "codex": _codex}
