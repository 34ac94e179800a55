"""What a scripted answer looks like on the wire, in each dialect: one body, or a stream of frames."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from holdfast.core.value import Value
from holdfast.testing.model_dialects import Asked, Dialect
from holdfast.testing.model_script import Reply

CREATED = 1_700_000_000  # nobody reads it


class Frame(Value):
    data: bytes
    piece: bool = False  # a word or a call: the script may pause after it, or cut there


class Call(Value):
    id: str
    name: str
    input: dict[str, object]

    @property
    def arguments(self) -> str:
        return msgspec.json.encode(self.input).decode()


class Answer(Value):
    id: str
    model: str
    reply: Reply
    calls: tuple[Call, ...]
    usage_chunk: bool = False

    @property
    def words(self) -> list[str]:
        return cut_words(self.reply.text)


def answer(asked: Asked, reply: Reply, name: str) -> Answer:
    prefix = "toolu_" if asked.dialect is Dialect.ANTHROPIC else "call_"
    calls = tuple(
        Call(id=f"{prefix}{name}_{k}", name=call.name, input=call.input)
        for k, call in enumerate(reply.tool_calls)
    )
    return Answer(
        id=f"msg_{name}",
        model=asked.model or "scripted",
        reply=reply,
        calls=calls,
        usage_chunk=asked.usage_chunk,
    )


def cut_words(text: str) -> list[str]:
    """After each space, so that the pieces add up to the text."""
    return [piece for piece in text.replace(" ", " \0").split("\0") if piece]


def whole(asked: Asked, given: Answer) -> bytes:
    bodies: dict[Dialect, Callable[[Answer], dict[str, Any]]] = {
        Dialect.ANTHROPIC: _anthropic_message,
        Dialect.CHAT: _chat_completion,
        Dialect.RESPONSES: _response,
        Dialect.GEMINI: _gemini_response,
    }
    return msgspec.json.encode(bodies[asked.dialect](given))


def stream(asked: Asked, given: Answer) -> Iterator[Frame]:
    if asked.array:
        return _gemini_array(given)
    streams: dict[Dialect, Callable[[Answer], Iterator[Frame]]] = {
        Dialect.ANTHROPIC: _anthropic_stream,
        Dialect.CHAT: _chat_stream,
        Dialect.RESPONSES: _responses_stream,
        Dialect.GEMINI: _gemini_stream,
    }
    return streams[asked.dialect](given)


def _data(payload: dict[str, Any], *, piece: bool = False, event: bool = False) -> Frame:
    name = f"event: {payload['type']}\n".encode() if event else b""
    return Frame(data=name + b"data: " + msgspec.json.encode(payload) + b"\n\n", piece=piece)


# --- Anthropic Messages ---------------------------------------------------------------------------


def _anthropic_message(given: Answer) -> dict[str, Any]:
    reply, content = given.reply, list[dict[str, Any]]()
    if reply.thinking:
        content.append({"type": "thinking", "thinking": reply.thinking, "signature": "c2NyaXB0"})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": c.input} for c in given.calls
    ]
    return {
        "id": given.id,
        "type": "message",
        "role": "assistant",
        "model": given.model,
        "content": content,
        "stop_reason": "tool_use" if given.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": reply.usage.input, "output_tokens": reply.usage.output},
    }


def _anthropic_stream(given: Answer) -> Iterator[Frame]:
    whole = _anthropic_message(given)
    start = {**whole, "content": [], "stop_reason": None}
    start["usage"] = {"input_tokens": given.reply.usage.input, "output_tokens": 0}
    yield _data({"type": "message_start", "message": start}, event=True)
    for index, block in enumerate(whole["content"]):
        yield from _anthropic_block(index, block)
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _data({"type": "message_delta", "delta": stop, "usage": whole["usage"]}, event=True)
    yield _data({"type": "message_stop"}, event=True)


def _anthropic_block(index: int, block: dict[str, Any]) -> Iterator[Frame]:
    empty: dict[str, Any]
    match block["type"]:
        case "text":
            empty = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": w} for w in cut_words(block["text"])]
        case "thinking":
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            words = cut_words(block["thinking"])
            deltas = [{"type": "thinking_delta", "thinking": w} for w in words]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case _:
            empty = {**block, "input": {}}
            arguments = msgspec.json.encode(block["input"]).decode()
            deltas = [{"type": "input_json_delta", "partial_json": arguments}]
    begin = {"type": "content_block_start", "index": index, "content_block": empty}
    yield _data(begin, event=True)
    for delta in deltas:
        event = {"type": "content_block_delta", "index": index, "delta": delta}
        yield _data(event, event=True, piece=True)
    yield _data({"type": "content_block_stop", "index": index}, event=True)


# --- OpenAI Chat Completions ----------------------------------------------------------------------


def _chat_usage(given: Answer) -> dict[str, int]:
    used = given.reply.usage
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
    }


def _chat_calls(given: Answer) -> list[dict[str, Any]]:
    return [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in given.calls
    ]


def _chat_completion(given: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": given.reply.text or None}
    if given.reply.thinking:
        message["reasoning_content"] = given.reply.thinking
    if given.calls:
        message["tool_calls"] = _chat_calls(given)
    reason = "tool_calls" if given.calls else "stop"
    return {
        "id": f"chatcmpl-{given.id}",
        "object": "chat.completion",
        "created": CREATED,
        "model": given.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": _chat_usage(given),
    }


def _chat_stream(given: Answer) -> Iterator[Frame]:
    head = {
        "id": f"chatcmpl-{given.id}",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": given.model,
    }

    def chunk(delta: dict[str, Any], *, reason: str | None = None, piece: bool = True) -> Frame:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _data({**head, "choices": [choice]}, piece=piece)

    yield chunk({"role": "assistant", "content": ""}, piece=False)
    for word in cut_words(given.reply.thinking):
        yield chunk({"reasoning_content": word})
    for word in given.words:
        yield chunk({"content": word})
    for index, call in enumerate(_chat_calls(given)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, reason="tool_calls" if given.calls else "stop", piece=False)
    if given.usage_chunk:
        yield _data({**head, "choices": [], "usage": _chat_usage(given)})
    yield Frame(data=b"data: [DONE]\n\n")


# --- OpenAI Responses -----------------------------------------------------------------------------


def _response_items(given: Answer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if given.reply.thinking:
        summary = [{"type": "summary_text", "text": given.reply.thinking}]
        items.append({"type": "reasoning", "id": f"rs_{given.id}", "summary": summary})
    if given.reply.text:
        part = {"type": "output_text", "text": given.reply.text, "annotations": []}
        message = {"type": "message", "id": given.id, "role": "assistant", "status": "completed"}
        items.append({**message, "content": [part]})
    items += [
        {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        for call in given.calls
    ]
    return items


def _response(given: Answer, *, done: bool = True) -> dict[str, Any]:
    used = given.reply.usage
    usage = {
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input + used.output,
    }
    return {
        "id": f"resp_{given.id}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed" if done else "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": given.model,
        "output": _response_items(given) if done else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage if done else None,
    }


Emit = Callable[..., Frame]


def _responses_stream(given: Answer) -> Iterator[Frame]:
    number = -1

    def event(type: str, *, piece: bool = False, **fields: Any) -> Frame:
        nonlocal number
        number += 1
        payload = {"type": f"response.{type}", "sequence_number": number, **fields}
        return _data(payload, event=True, piece=piece)

    yield event("created", response=_response(given, done=False))
    parts = {"message": _message_item, "reasoning": _reasoning_item, "function_call": _call_item}
    for index, item in enumerate(_response_items(given)):
        at = {"output_index": index, "item_id": item["id"]}
        yield from parts[item["type"]](event, item, at)
        yield event("output_item.done", output_index=index, item=item)
    yield event("completed", response=_response(given))


def _message_item(event: Emit, item: dict[str, Any], at: dict[str, Any]) -> Iterator[Frame]:
    part, empty = item["content"][0], {**item, "content": [], "status": "in_progress"}
    yield event("output_item.added", output_index=at["output_index"], item=empty)
    at = {**at, "content_index": 0}
    yield event("content_part.added", part={**part, "text": ""}, **at)
    for word in cut_words(part["text"]):
        yield event("output_text.delta", delta=word, logprobs=[], piece=True, **at)
    yield event("output_text.done", text=part["text"], logprobs=[], **at)
    yield event("content_part.done", part=part, **at)


def _reasoning_item(event: Emit, item: dict[str, Any], at: dict[str, Any]) -> Iterator[Frame]:
    part, empty = item["summary"][0], {**item, "summary": []}
    yield event("output_item.added", output_index=at["output_index"], item=empty)
    at = {**at, "summary_index": 0}
    yield event("reasoning_summary_part.added", part={**part, "text": ""}, **at)
    for word in cut_words(part["text"]):
        yield event("reasoning_summary_text.delta", delta=word, piece=True, **at)
    yield event("reasoning_summary_text.done", text=part["text"], **at)
    yield event("reasoning_summary_part.done", part=part, **at)


def _call_item(event: Emit, item: dict[str, Any], at: dict[str, Any]) -> Iterator[Frame]:
    arguments, empty = item["arguments"], {**item, "arguments": "", "status": "in_progress"}
    yield event("output_item.added", output_index=at["output_index"], item=empty)
    yield event("function_call_arguments.delta", delta=arguments, piece=True, **at)
    yield event("function_call_arguments.done", arguments=arguments, name=item["name"], **at)


# --- Gemini ---------------------------------------------------------------------------------------


def _gemini_parts(given: Answer) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [
        {"text": word, "thought": True} for word in cut_words(given.reply.thinking)
    ]
    parts += [{"text": word} for word in given.words]
    parts += [{"functionCall": {"id": c.id, "name": c.name, "args": c.input}} for c in given.calls]
    return parts


def _gemini_body(
    given: Answer, parts: list[dict[str, Any]], *, last: bool = True
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    body: dict[str, Any] = {"candidates": [candidate], "modelVersion": given.model}
    if last:
        used = given.reply.usage
        candidate["finishReason"] = "STOP"
        body["usageMetadata"] = {
            "promptTokenCount": used.input,
            "candidatesTokenCount": used.output,
            "totalTokenCount": used.input + used.output,
        }
    return {**body, "responseId": given.id}


def _gemini_response(given: Answer) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if given.reply.thinking:
        parts.append({"text": given.reply.thinking, "thought": True})
    if given.reply.text:
        parts.append({"text": given.reply.text})
    calls = [p for p in _gemini_parts(given) if "functionCall" in p]
    return _gemini_body(given, parts + calls)


def _gemini_bodies(given: Answer) -> Iterator[tuple[dict[str, Any], bool]]:
    for part in _gemini_parts(given):
        yield _gemini_body(given, [part], last=False), True
    yield _gemini_body(given, [{"text": ""}]), False


def _gemini_stream(given: Answer) -> Iterator[Frame]:
    for body, piece in _gemini_bodies(given):
        yield _data(body, piece=piece)


def _gemini_array(given: Answer) -> Iterator[Frame]:
    before = b"["
    for body, piece in _gemini_bodies(given):
        yield Frame(data=before + msgspec.json.encode(body), piece=piece)
        before = b",\n"
    yield Frame(data=b"]")
