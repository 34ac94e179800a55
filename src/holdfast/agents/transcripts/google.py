"""Gemini CLI and Qwen Code: lines of messages whose parts are Google's.

Gemini writes a message again when it grows, and `$set` lines that replace the whole of them; Qwen
only appends.
"""

from typing import Any

import msgspec

from holdfast.agents.transcripts.lines import About, as_json, text_of
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, Turn, UserSaid

NOT_THE_USER = "<session_context>"  # what Gemini tells the model in the user's name


class GoogleReader:
    def __init__(self) -> None:
        self.about = About()
        self._said: dict[str, list[Turn]] = {}

    def feed(self, line: bytes) -> list[Turn]:
        read = msgspec.json.decode(line, type=dict[str, Any])
        if not self.about.id and read.get("sessionId"):
            self.about = About(id=str(read["sessionId"]), folder=str(read.get("cwd", "")))
        replaced = (read.get("$set") or {}).get("messages")
        if isinstance(replaced, list):
            return self._replace(replaced)
        return self._add(read) if "$set" not in read else []

    def _replace(self, messages: list[Any]) -> list[Turn]:
        """A later account of the same conversation; one that is shorter is what a new process
        writes before it has read the file: it takes nothing away."""
        known = {m.get("id"): _turns(m) for m in messages if isinstance(m, dict)}
        fresh = [t for id, turns in known.items() if id not in self._said for t in turns]
        if len(known) >= len(self._said):
            self._said = {str(id): turns for id, turns in known.items()}
            return fresh
        return []

    def _add(self, read: dict[str, Any]) -> list[Turn]:
        id = str(read.get("id") or read.get("uuid") or "")
        turns = _turns(read)
        before = len(self._said.get(id, []))
        if turns:
            self._said[id] = turns
        return turns[before:]

    @staticmethod
    def may_ask(line: bytes) -> bool:
        if b'"user"' not in line:
            return False
        return b'"functionResponse"' not in line or b'"messages"' in line

    def turns(self) -> list[Turn]:
        """Gemini tells a result twice, in its call's message and in the next: the first counts."""
        found: list[Turn] = []
        done: set[str] = set()
        for turns in self._said.values():
            for turn in turns:
                if isinstance(turn, CallDone):
                    if turn.id in done:
                        continue
                    done.add(turn.id)
                found.append(turn)
        return found


def _turns(read: dict[str, Any]) -> list[Turn]:
    message = read.get("message") if isinstance(read.get("message"), dict) else None
    content = (message or {}).get("parts") if message else read.get("content")
    parts = content if isinstance(content, list) else [{"text": content}] if content else []
    parts = [part for part in parts if isinstance(part, dict)]
    match read.get("type"):
        case "user":
            return _user(parts)
        case "tool_result":
            return _results(parts)
        case "gemini" | "assistant":
            return _agent(read, parts)
        case _:
            return []


def _user(parts: list[dict[str, Any]]) -> list[Turn]:
    results = _results(parts)
    text = text_of(list(parts))
    if results or not text.strip() or text.lstrip().startswith(NOT_THE_USER):
        return results
    return [UserSaid(text=text)]


def _results(parts: list[dict[str, Any]]) -> list[Turn]:
    answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return [_done(answer) for answer in answers if isinstance(answer, dict)]


def _done(answer: dict[str, Any]) -> CallDone:
    response = answer.get("response") or {}
    failed = "error" in response
    output = response.get("error" if failed else "output", response)
    text = output if isinstance(output, str) else as_json(output)
    return CallDone(id=str(answer.get("id")), output=text, failed=failed)


def _agent(read: dict[str, Any], parts: list[dict[str, Any]]) -> list[Turn]:
    thought = text_of([part for part in parts if part.get("thought") is True])
    thought = thought or "\n".join(
        str(t.get("description", "")) for t in read.get("thoughts") or []
    )
    text = text_of([part for part in parts if part.get("thought") is not True])
    said: list[Turn] = [AgentSaid(text=text, thinking=thought, model=str(read.get("model") or ""))]
    calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
    ran = [call for call in read.get("toolCalls") or [] if isinstance(call, dict)]
    for call in calls or ran:
        arguments = as_json(call.get("args", {}))
        said.append(
            CallMade(id=str(call.get("id")), name=str(call.get("name")), arguments=arguments)
        )
    for call in ran:
        said += _results([part for part in call.get("result") or [] if isinstance(part, dict)])
    return said
