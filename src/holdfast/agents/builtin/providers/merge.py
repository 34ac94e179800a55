"""Fewer, larger events: adjacent pieces of plain text in a stream of server-sent events become one.

A provider sends a word at a time, and its library spends a third of a millisecond on each event: twenty
sessions at full speed would take a whole core. So what has already arrived is merged before the library
sees it.

Rule 1: only plain text is merged: deltas that say nothing but text and belong to the same part. Every
        other byte passes as it came, in its order.
Rule 2: nothing is held back: what is whole leaves with the read it came in.
Rule 3: events are cut as bytes, at empty lines, so a letter that was split between two reads is whole
        again before anybody decodes it.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_DATA = re.compile(rb"((?:event: ?[\w.]+\r?\n)?)data: ?(\{.*\})\s*", re.DOTALL)
_VOLATILE = ("obfuscation", "sequence_number")  # differ in each event and mean nothing to its text
# Some readers take these for the end of a line; JSON has another way to write them.
_LINES = {letter.encode(): f"\\u{ord(letter):04x}".encode() for letter in "\u0085\u2028\u2029"}
_LARGEST = 1 << 22  # bytes without an empty line: no stream of events


class _Text(NamedTuple):
    """An event that is nothing but text. Two with the same `frame` may become one."""

    head: bytes  # the line before the data
    frame: dict[str, Any]  # all of it but the text and what is volatile
    volatile: dict[str, Any]
    holder: dict[str, Any]  # the part of the frame that the text is put back into
    name: str
    text: str


class Merger:
    def __init__(self) -> None:
        self._rest = b""
        self._is_events = True

    def feed(self, read: bytes) -> bytes:
        """What may go on, of what has come so far."""
        if not self._is_events:
            return read
        buffered = self._rest + read
        whole = 0
        events: list[bytes] = []
        for found in _END.finditer(buffered, max(0, len(self._rest) - 3) if self._rest else 0):
            events.append(buffered[whole : found.end()])
            whole = found.end()
        self._rest = buffered[whole:]
        if len(self._rest) > _LARGEST:
            self._is_events = False
            events.append(self.rest())
        return merged(events)

    def rest(self) -> bytes:
        """What was cut off, as it is."""
        rest, self._rest = self._rest, b""
        return rest


def merged(events: list[bytes]) -> bytes:
    out: list[bytes] = []
    run: list[_Text] = []
    run_bytes: list[bytes] = []

    def close() -> None:
        out.append(_joined(run) if len(run) > 1 else b"".join(run_bytes))
        run.clear()
        run_bytes.clear()

    for event in events:
        text = _text(event) if len(events) > 1 else None
        if run and (text is None or text.frame != run[0].frame or text.head != run[0].head):
            close()
        if text is None:
            out.append(event)
        else:
            run.append(text)
            run_bytes.append(event)
    if run:
        close()
    return b"".join(out)


def _joined(run: list[_Text]) -> bytes:
    first, last = run[0], run[-1]
    first.holder[first.name] = "".join(piece.text for piece in run)
    data = msgspec.json.encode({**first.frame, **last.volatile})
    for letter, escape in _LINES.items():
        data = data.replace(letter, escape)
    return first.head + b"data: " + data + b"\n\n"


# --- what is nothing but text ---------------------------------------------------------------------


def _text(event: bytes) -> _Text | None:
    reader = next((reader for mark, reader in _READERS if mark in event), None)
    found = _DATA.fullmatch(event) if reader is not None else None
    if reader is None or found is None:
        return None
    try:
        frame = msgspec.json.decode(found[2])
    except (ValueError, RecursionError):
        return None
    place = reader(frame)
    if place is None:
        return None
    holder, name = place
    text = holder.pop(name)
    volatile = {key: frame.pop(key) for key in _VOLATILE if key in frame}
    return _Text(found[1], frame, volatile, holder, name, text)


Place = tuple[dict[str, Any], str] | None


def _chat(frame: dict[str, Any]) -> Place:
    """OpenAI, Chat Completions: one choice, whose delta has content and nothing else."""
    choices = frame.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or frame.get("usage") is not None:
        return None
    choice = choices[0]
    if not isinstance(choice, dict) or choice.get("finish_reason") or choice.get("logprobs"):
        return None
    return _only(choice.get("delta"), "content")


def _responses(frame: dict[str, Any]) -> Place:
    """OpenAI, Responses."""
    if frame.get("type") != "response.output_text.delta" or frame.get("logprobs"):
        return None
    return (frame, "delta") if isinstance(frame.get("delta"), str) else None


def _messages(frame: dict[str, Any]) -> Place:
    """Anthropic, Messages."""
    delta = frame.get("delta")
    if frame.get("type") != "content_block_delta" or not isinstance(delta, dict):
        return None
    if delta.get("type") != "text_delta" or set(delta) != {"type", "text"}:
        return None
    return (delta, "text") if isinstance(delta["text"], str) else None


def _only(delta: object, name: str) -> Place:
    if not isinstance(delta, dict) or set(delta) != {name} or not isinstance(delta[name], str):
        return None
    return delta, name


_READERS: tuple[tuple[bytes, Callable[[dict[str, Any]], Place]], ...] = (
    (b"chat.completion.chunk", _chat),
    (b"response.output_text.delta", _responses),
    (b"text_delta", _messages),
)
