"""Claude Code: JSON Lines, a tree by `parentUuid`; the newest leaf's branch is the conversation."""

from typing import Any

import msgspec

from holdfast.agents.transcripts.lines import About, as_json, text_of
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, Turn, UserSaid
from holdfast.core.value import Value

SYNTHETIC = "<synthetic>"  # words that the program, not the model, put there
# Kinds of lines that are no part of the tree, told by their first bytes: most of a file's weight.
MOSTLY = (b'{"type":"api-request', b'{"type":"file-history')


class Line(Value):
    type: str = ""
    uuid: str = ""
    parent: str | None = msgspec.field(default=None, name="parentUuid")
    aside: bool = msgspec.field(default=False, name="isSidechain")
    meta: bool = msgspec.field(default=False, name="isMeta")
    id: str = msgspec.field(default="", name="sessionId")
    cwd: str = ""
    branch: str = msgspec.field(default="", name="gitBranch")
    message: msgspec.Raw = msgspec.Raw()


class Message(Value):
    content: Any = None
    model: str = ""


_line = msgspec.json.Decoder(Line)
_message = msgspec.json.Decoder(Message)


class ClaudeReader:
    def __init__(self) -> None:
        self.about = About()
        self._parents: dict[str, str | None] = {}
        self._said: dict[str, list[Turn]] = {}
        self._leaf: str | None = None

    def feed(self, line: bytes) -> list[Turn]:
        if line.startswith(MOSTLY):
            return []
        read = _line.decode(line)
        if not self.about.folder and read.cwd:
            self.about = About(id=read.id, folder=read.cwd, branch=read.branch)
        if read.aside or not read.uuid or read.uuid in self._parents:
            return []
        turns = _turns(read) if read.type in ("user", "assistant") and not read.meta else []
        self._parents[read.uuid] = read.parent
        if turns:
            self._said[read.uuid] = turns
        if read.type in ("user", "assistant"):
            self._leaf = read.uuid
        return turns

    @staticmethod
    def may_ask(line: bytes) -> bool:
        return b'"user"' in line and b'"tool_result"' not in line and not line.startswith(MOSTLY)

    def turns(self) -> list[Turn]:
        branch: list[list[Turn]] = []
        at, seen = self._leaf, set[str]()
        while at is not None and at not in seen:
            seen.add(at)
            branch.append(self._said.get(at, []))
            at = self._parents.get(at)
        return [turn for turns in reversed(branch) for turn in turns]


def _turns(read: Line) -> list[Turn]:
    message = _message.decode(read.message)
    if message.model == SYNTHETIC:
        return []
    blocks = message.content if isinstance(message.content, list) else []
    if read.type == "user":
        done: list[Turn] = [_done(b) for b in blocks if _kind(b) == "tool_result"]
        text = text_of(message.content)
        return done or ([UserSaid(text=text)] if text.strip() else [])
    if not blocks and isinstance(message.content, str):
        return [AgentSaid(text=message.content, model=message.model)]
    return [turn for b in blocks for turn in _said(b, message.model)]


def _said(block: Any, model: str) -> list[Turn]:
    match _kind(block):
        case "text":
            return [AgentSaid(text=str(block.get("text", "")), model=model)]
        case "thinking":
            return [AgentSaid(thinking=str(block.get("thinking", "")), model=model)]
        case "tool_use":
            arguments = as_json(block.get("input", {}))
            return [
                CallMade(id=str(block.get("id")), name=str(block.get("name")), arguments=arguments)
            ]
        case _:
            return []


def _done(block: Any) -> CallDone:
    return CallDone(
        id=str(block.get("tool_use_id")),
        output=text_of(block.get("content")),
        failed=block.get("is_error") is True,
    )


def _kind(block: Any) -> str:
    return str(block.get("type", "")) if isinstance(block, dict) else ""
