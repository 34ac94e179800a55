"""Codex: a rollout in JSON Lines; of its two accounts of each turn the `response_item`s are read."""

from typing import Any

import msgspec

from holdfast.agents.transcripts.lines import About, as_json, text_of
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, Turn, UserSaid
from holdfast.core.value import Value

# What the program tells the model in the user's name.
NOT_THE_USER = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md")


class Line(Value):
    type: str = ""
    payload: msgspec.Raw = msgspec.Raw()


_line = msgspec.json.Decoder(Line)


class CodexReader:
    def __init__(self) -> None:
        self.about = About()
        self._turns: list[Turn] = []

    def feed(self, line: bytes) -> list[Turn]:
        read = _line.decode(line)
        if read.type == "session_meta" and not self.about.id:
            meta = msgspec.json.decode(read.payload, type=dict[str, Any])
            git = meta.get("git") if isinstance(meta.get("git"), dict) else {}
            self.about = About(
                id=str(meta.get("id", "")),
                folder=str(meta.get("cwd", "")),
                branch=str((git or {}).get("branch") or ""),
            )
        if read.type != "response_item":
            return []
        turns = _said(msgspec.json.decode(read.payload, type=dict[str, Any]))
        self._turns += turns
        return turns

    @staticmethod
    def may_ask(line: bytes) -> bool:
        return b'"user"' in line

    def turns(self) -> list[Turn]:
        return self._turns


def _said(item: dict[str, Any]) -> list[Turn]:
    match item.get("type"), item.get("role"):
        case "message", "user":
            text = text_of(item.get("content"))
            ours = text.lstrip().startswith(NOT_THE_USER)
            return [UserSaid(text=text)] if text.strip() and not ours else []
        case "message", "assistant":
            return [AgentSaid(text=text_of(item.get("content")))]
        case "reasoning", _:
            return [AgentSaid(thinking=text_of(item.get("summary")))]
        case (("function_call" | "custom_tool_call" | "local_shell_call"), _):
            given = item.get("arguments", item.get("input", item.get("action", {})))
            return [
                CallMade(
                    id=str(item.get("call_id")),
                    name=str(item.get("name") or item.get("type")),
                    arguments=as_json(given),
                )
            ]
        case (("function_call_output" | "custom_tool_call_output"), _):
            return [CallDone(id=str(item.get("call_id")), output=_output(item.get("output")))]
        case _:
            return []


def _output(given: object) -> str:
    if isinstance(given, dict):
        given = given.get("content", given)
    return text_of(given) or (as_json(given) if given else "")
