"""Lines of an agent's output to messages, as fast and as forgiving as can be.

What we do not know stays raw; what is no message at all (logs, escape sequences, JSON that is not
JSON-RPC) is noise. An escape sequence glued in front of a message does not lose the message.
"""

from typing import Any

import msgspec

NOTHING = msgspec.Raw(b"")
Id = int | str


class Message(msgspec.Struct, gc=False):
    """One line, unwrapped; what is inside is looked at by whoever wants it."""

    method: str | None = None
    id: int | str | None = None
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


class ErrorBody(msgspec.Struct):
    code: int = -32603
    message: str = ""
    data: msgspec.Raw = NOTHING


_message = msgspec.json.Decoder(Message).decode
_error = msgspec.json.Decoder(ErrorBody).decode
_encode = msgspec.json.Encoder().encode


def parse(line: bytes) -> Message | None:
    """None: this is no message."""
    if line[:1] != b"{":
        start = line.find(b'{"')
        if start < 0:
            return None
        line = line[start:]
    try:
        found = _message(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    answers = found.id is not None and (found.result is not NOTHING or found.error is not NOTHING)
    return found if found.method is not None or answers else None


def request(id: Id, method: str, params: Any) -> bytes:
    return _line({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def notification(method: str, params: Any) -> bytes:
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def answer(id: Id, result: Any) -> bytes:
    return _line({"jsonrpc": "2.0", "id": id, "result": result})


def refusal(id: Id, code: int, message: str) -> bytes:
    return _line({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})


def error_of(raw: msgspec.Raw) -> ErrorBody:
    try:
        return _error(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ErrorBody(message=bytes(raw)[:500].decode("utf-8", "replace"))


def _line(value: Any) -> bytes:
    try:
        return _encode(value) + b"\n"
    except UnicodeEncodeError:  # a lone surrogate: no JSON can hold it
        import json  # noqa: PLC0415  never, almost

        clean = json.dumps(value, ensure_ascii=False)
        return clean.encode("utf-8", "replace") + b"\n"
