"""GitHub Copilot: `events.jsonl`, one event per line."""

from typing import Any

import msgspec

from holdfast.agents.transcripts.lines import About, as_json
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, Turn, UserSaid
from holdfast.core.value import Value


class Line(Value):
    type: str = ""
    data: msgspec.Raw = msgspec.Raw()


_line = msgspec.json.Decoder(Line)
READ = frozenset({"session.start", "user.message", "assistant.message", "tool.execution_complete"})


class CopilotReader:
    def __init__(self) -> None:
        self.about = About()
        self._turns: list[Turn] = []

    def feed(self, line: bytes) -> list[Turn]:
        read = _line.decode(line)
        if read.type not in READ:
            return []
        data = msgspec.json.decode(read.data, type=dict[str, Any])
        if read.type == "session.start":
            context = data.get("context") or {}
            self.about = About(
                id=str(data.get("sessionId", "")),
                folder=str(context.get("cwd", "")),
                branch=str(context.get("branch") or ""),
            )
            return []
        turns = _said(read.type, data)
        self._turns += turns
        return turns

    @staticmethod
    def may_ask(line: bytes) -> bool:
        return b'"user.message"' in line

    def turns(self) -> list[Turn]:
        return self._turns


def _said(kind: str, data: dict[str, Any]) -> list[Turn]:
    if kind == "user.message":
        text = str(data.get("content", ""))
        return [UserSaid(text=text)] if text.strip() else []
    if kind == "tool.execution_complete":
        result = data.get("result") or data.get("error") or {}
        output = result.get("content", result.get("message", ""))
        return [
            CallDone(
                id=str(data.get("toolCallId")),
                output=output if isinstance(output, str) else as_json(output),
                failed=data.get("success") is False,
            )
        ]
    said: list[Turn] = [
        AgentSaid(
            text=str(data.get("content") or ""),
            thinking=str(data.get("reasoningText") or ""),
            model=str(data.get("model") or ""),
        )
    ]
    for asked in data.get("toolRequests") or []:
        arguments = as_json(asked.get("arguments", {}))
        said.append(
            CallMade(
                id=str(asked.get("toolCallId")), name=str(asked.get("name")), arguments=arguments
            )
        )
    return said
