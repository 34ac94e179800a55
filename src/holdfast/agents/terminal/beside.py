"""What an agent's record says beside the words: what a response cost, and that a turn is over.

Each in its own way. What a record does not say is found out otherwise (seat.py).
"""

from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.agents.oneshot.json_lines import Table, as_text, number, sub, text
from holdfast.agents.oneshot.read_claude import usage
from holdfast.agents.oneshot.read_opencode import usage_of
from holdfast.agents.transcripts.lines import text_of
from holdfast.core.budget import Usage
from holdfast.core.value import Value

INTERRUPTED = "[Request interrupted by user"
LAST = ("end_turn", "stop_sequence", "max_tokens", "refusal")


class About(Value):
    """Of the response whose words come with it. What has the same `key` was said before."""

    usage: Usage = Usage()
    model: str = ""
    message_id: str | None = None
    key: str = ""


class Over(Value):
    """The turn has ended. `soft`: unless more follows at once."""

    soft: bool = False
    cancelled: bool = False
    failed: bool = False
    message: str = ""
    status: int | None = None


Beside = Callable[[bytes], list[About | Over]]
_any = msgspec.json.Decoder(dict[str, Any])


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
        message_id=text(found.get("uuid")) or None,  # by this it can be taken back there
        key=text(message.get("id")),
    )
    last = message.get("stop_reason") in LAST and text_of(message.get("content"))
    return [about, *([Over(soft=True)] if last else [])]


def _codex(line: bytes) -> list[About | Over]:
    found = _any.decode(line)
    said = sub(found, "payload")
    if found.get("type") == "response_item" and said.get("role") == "assistant":
        return [About(message_id=text(said.get("id")) or None)]
    if found.get("type") != "event_msg":
        return []
    match said.get("type"):
        case "task_complete" | "turn_aborted" as kind:
            wrong = as_text(sub(said, "error").get("message"))
            return [Over(failed=bool(wrong), message=wrong, cancelled=kind == "turn_aborted")]
        case "error":
            return [Over(failed=True, message=text(said.get("message")))]
        case "token_count":
            return [_codex_usage(sub(said, "info"))]
        case _:
            return []


def _codex_usage(info: Table) -> About:
    last, whole = sub(info, "last_token_usage"), sub(info, "total_token_usage")
    used = Usage(
        input_tokens=number(last.get("input_tokens")),
        output_tokens=number(last.get("output_tokens")),
        cache_read_tokens=number(last.get("cached_input_tokens")),
        cache_write_tokens=number(last.get("cache_write_input_tokens")),
    )
    return About(usage=used, key=f"total {number(whole.get('total_tokens'))}")


def _copilot(line: bytes) -> list[About | Over]:
    found = _any.decode(line)
    said = sub(found, "data")
    match found.get("type"):
        case "session.usage_record":
            used = sub(said, "usage")
            counted = Usage(
                input_tokens=number(used.get("inputTokens")),
                output_tokens=number(used.get("outputTokens")),
                cache_read_tokens=number(used.get("cacheReadTokens")),
                cache_write_tokens=number(used.get("cacheWriteTokens")),
            )
            return [About(usage=counted, key=text(found.get("id")))]
        case "assistant.message":
            model, id = text(said.get("model")), text(said.get("messageId")) or None
            last = not said.get("toolRequests")
            return [About(model=model, message_id=id), *([Over(soft=True)] if last else [])]
        case "session.error":
            message, status = as_text(said.get("message")), number(said.get("statusCode"))
            return [Over(failed=True, message=message, status=status or None)]
        case "abort":
            return [Over(cancelled=True)]
        case _:
            return []


def _google(line: bytes) -> list[About | Over]:
    """Gemini and Qwen. That a turn is over neither of them writes down."""
    found = _any.decode(line)
    if found.get("type") not in ("gemini", "assistant"):
        return []
    id = text(found.get("id")) or text(found.get("uuid"))
    used, google = sub(found, "tokens"), sub(found, "usageMetadata")
    counted = Usage(
        input_tokens=number(used.get("input")) or number(google.get("promptTokenCount")),
        output_tokens=number(used.get("output")) or number(google.get("candidatesTokenCount")),
        cache_read_tokens=number(used.get("cached"))
        or number(google.get("cachedContentTokenCount")),
    )
    return [About(usage=counted, model=text(found.get("model")), message_id=id or None, key=id)]


def _opencode(line: bytes) -> list[About | Over]:
    found = _any.decode(line)
    info, part = sub(found, "data", "info"), sub(found, "data", "part")
    if part.get("type") == "step-finish":
        return [About(usage=usage_of(part), key=text(part.get("id")))]
    if info.get("role") != "assistant":
        return []
    about = About(model=text(info.get("modelID")), message_id=text(info.get("id")) or None)
    error = sub(info, "error")
    if error:
        return [about, _opencode_error(text(error.get("name")), sub(error, "data"))]
    done = sub(info, "time").get("completed") and info.get("finish") != "tool-calls"
    return [about, *([Over()] if done else [])]


def _opencode_error(name: str, data: Table) -> Over:
    if name == "MessageAbortedError":
        return Over(cancelled=True)
    said = as_text(data.get("message")) or name
    after = as_text(sub(data, "responseHeaders").get("retry-after"))
    message = f"{said}\nretry-after: {after}" if after else said
    return Over(failed=True, message=message, status=number(data.get("statusCode")) or None)


BESIDE: dict[str, Beside] = {
    "claude": _claude,
    "codex": _codex,
    "copilot": _copilot,
    "gemini": _google,
    "qwen": _google,
    "opencode": _opencode,
}
