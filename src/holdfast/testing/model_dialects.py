"""What a request to a model says, in each of the four dialects that the world speaks."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from holdfast.core.value import Value

Body = dict[str, Any]
GEMINI = re.compile(r"/models/(?P<model>[^/:]+):(?P<verb>\w+)$")


class Dialect(StrEnum):
    ANTHROPIC = "anthropic"
    CHAT = "chat"
    RESPONSES = "responses"
    GEMINI = "gemini"


class Said(Value):
    role: str
    text: str


class Asked(Value):
    """A request, as far as a script needs to know it."""

    dialect: Dialect
    model: str
    stream: bool
    array: bool = False  # Gemini streams a JSON array unless asked for server-sent events
    usage_chunk: bool = False
    tools: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()

    @property
    def last_user(self) -> str:
        """The last thing a person said; what a tool returned is not that."""
        texts = (s.text for s in reversed(self.said) if s.role == "user" and s.text)
        return next(texts, "")


def understand(path: str, query: str, body: Body) -> Asked | None:
    """None: not a request for an answer."""
    if path.endswith("/messages"):
        return _asked(Dialect.ANTHROPIC, body, body.get("messages"))
    if path.endswith("/chat/completions"):
        options = body.get("stream_options") or {}
        return _asked(Dialect.CHAT, body, body.get("messages"), bool(options.get("include_usage")))
    if path.endswith("/responses"):
        given = body.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        return _asked(Dialect.RESPONSES, body, items)
    found = GEMINI.search(path)
    if found and found["verb"] in {"generateContent", "streamGenerateContent"}:
        stream = found["verb"] == "streamGenerateContent"
        return Asked(
            dialect=Dialect.GEMINI,
            model=found["model"],
            stream=stream,
            array=stream and "alt=sse" not in query,
            tools=_gemini_tools(body),
            said=tuple(_said(body.get("contents"), "parts")),
        )
    return None


def _asked(dialect: Dialect, body: Body, messages: Any, usage_chunk: bool = False) -> Asked:  # noqa: FBT001, FBT002
    return Asked(
        dialect=dialect,
        model=str(body.get("model", "")),
        stream=bool(body.get("stream")),
        usage_chunk=usage_chunk,
        tools=tuple(_tool_names(body.get("tools"))),
        said=tuple(_said(messages, "content")),
    )


def _said(messages: Any, key: str) -> Iterable[Said]:
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict) and "role" in message:
            yield Said(role=str(message["role"]), text=_text(message.get(key)))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, dict))
    texts = (text for text in parts if isinstance(text, str))
    # What Claude Code slips in beside a tool's result is no person's word.
    return "\n".join(text for text in texts if not text.startswith("<system-reminder>"))


def _tool_names(tools: Any) -> Iterable[str]:
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict):
            function = tool.get("function")
            named = function if isinstance(function, dict) else tool
            yield str(named.get("name") or named.get("type") or "")


def _gemini_tools(body: Body) -> tuple[str, ...]:
    names = []
    for tool in body.get("tools") or []:
        declared = tool.get("functionDeclarations") or tool.get("function_declarations") or []
        names += [str(function.get("name", "")) for function in declared]
    return tuple(names)
