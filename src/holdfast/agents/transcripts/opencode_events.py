"""OpenCode's log of one conversation: a table that only grows, one numbered row for each change.

Rule 1: a text is said when it is whole. A call that begins while a text before it is still coming waits
for that text: it was said first.
Rule 2: a row is the whole state of a message or part, so one that comes again adds only what is more.
"""

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from holdfast.agents.transcripts.lines import About, as_json
from holdfast.agents.transcripts.opencode import opened
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, Turn, UserSaid
from holdfast.core.value import Value

ROWS = "select seq, type, data from event where aggregate_id = ? and seq >= ? order by seq"
END = "select coalesce(max(seq) + 1, 0) from event where aggregate_id = ?"
NEWEST = """
select id from session where directory = ? and parent_id is null and time_updated >= ?
order by time_updated desc limit 1
"""


class Row(Value):
    type: str = ""
    data: Mapping[str, Any] = {}


_row = msgspec.json.Decoder(Row)


def rows(path: Path, id: str, start: int) -> list[tuple[bytes, int]]:
    """Each as a line, with the number after it. Empty where the tables are others."""
    with contextlib.suppress(sqlite3.Error), opened(path) as db:
        return [
            (b'{"type":%s,"data":%s}' % (msgspec.json.encode(kind), data.encode()), seq + 1)
            for seq, kind, data in db.execute(ROWS, (id, start))
        ]
    return []


def end(path: Path, id: str) -> int:
    with contextlib.suppress(sqlite3.Error), opened(path) as db:
        return int(db.execute(END, (id,)).fetchone()[0])
    return 0


def newest(path: Path, folder: str, since: float) -> str | None:
    """The conversation of this folder that was had since then (seconds)."""
    with contextlib.suppress(sqlite3.Error), opened(path) as db:
        found = db.execute(NEWEST, (folder, int(since * 1000))).fetchone()
        return str(found[0]) if found else None
    return None


class OpencodeEvents:
    """A reader of such lines."""

    def __init__(self) -> None:
        self.about = About()
        self._roles: dict[str, str] = {}
        self._coming: set[str] = set()  # texts that are not whole yet
        self._waiting: list[Turn] = []
        self._said: set[str] = set()

    def feed(self, line: bytes) -> list[Turn]:
        row = _row.decode(line)
        info, part = _table(row.data.get("info")), _table(row.data.get("part"))
        match row.type.rpartition(".")[0]:
            case "session.created":
                self.about = About(
                    id=str(info.get("id", "")), folder=str(info.get("directory", ""))
                )
            case "message.updated":
                self._roles[str(info.get("id"))] = str(info.get("role"))
            case "message.part.updated":
                return self._part(part)
            case _:
                pass
        return []

    def _part(self, part: dict[str, Any]) -> list[Turn]:
        id, kind = str(part.get("id")), part.get("type")
        if kind in ("text", "reasoning"):
            return self._text(id, part, user=self._roles.get(str(part.get("messageID"))) == "user")
        if kind == "tool":
            return self._tool(part)
        if kind == "step-finish":  # nothing of it is still coming
            self._coming.clear()
            return self._released()
        return []

    def _text(self, id: str, part: dict[str, Any], *, user: bool) -> list[Turn]:
        if id in self._said or part.get("synthetic") is True:
            return []
        text = str(part.get("text", ""))
        if user:
            self._said.add(id)
            return [UserSaid(text=text)] if text.strip() else []
        if not _table(part.get("time")).get("end"):
            self._coming.add(id)
            return []
        self._said.add(id)
        self._coming.discard(id)
        thinking = part.get("type") == "reasoning"
        said = AgentSaid(thinking=text) if thinking else AgentSaid(text=text)
        return [said, *self._released()]

    def _tool(self, part: dict[str, Any]) -> list[Turn]:
        state, id = _table(part.get("state")), str(part.get("callID"))
        status = state.get("status")
        if status == "pending":  # its arguments are not known yet
            return []
        if f"call {id}" not in self._said:
            self._said.add(f"call {id}")
            arguments = as_json(state.get("input", {}))
            self._waiting.append(CallMade(id=id, name=str(part.get("tool")), arguments=arguments))
        if status in ("completed", "error") and f"done {id}" not in self._said:
            self._said.add(f"done {id}")
            failed = status == "error"
            output = str(state.get("error" if failed else "output", ""))
            self._waiting.append(CallDone(id=id, output=output, failed=failed))
        return self._released()

    def _released(self) -> list[Turn]:
        if self._coming:
            return []
        waiting, self._waiting = self._waiting, []
        return waiting


def _table(given: object) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}
