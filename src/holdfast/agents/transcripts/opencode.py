"""OpenCode: a SQLite database of its own, opened to read and in no other way."""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from holdfast.agents.transcripts.lines import UNREADABLE, as_json
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, Turn, UserSaid
from holdfast.core.ids import Millis
from holdfast.ports import Record

LIST = """
select id, directory, title, time_updated from session where parent_id is null
"""
DETAILS = """
select
    (select count(*) from message m where m.session_id = s.id and m.data like '%"role":"user"%'),
    (select sum(length(data)) from part p where p.session_id = s.id),
    (select p.data from part p join message m on m.id = p.message_id
     where p.session_id = s.id and m.data like '%"role":"user"%' and p.data like '%"type":"text"%'
     order by p.id desc limit 1)
from session s where s.id = ?
"""
PARTS = """
select m.data, p.data from part p join message m on m.id = p.message_id
where p.session_id = ? order by m.id, p.id
"""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)
    try:
        yield db
    finally:
        db.close()


def records(path: Path, before: Mapping[str, Record] | None = None) -> list[Record]:
    """`before`, by id: what did not change since is not looked into again."""
    with opened(path) as db:
        return [
            _record(db, path, (before or {}).get(str(id)), str(id), *about)
            for id, *about in db.execute(LIST).fetchall()
        ]


def _record(
    db: sqlite3.Connection,
    path: Path,
    before: Record | None,
    id: str,
    folder: str,
    title: str,
    updated: int,
) -> Record:
    if before is not None and before.modified_at == updated:
        return before
    prompts, size, last = db.execute(DETAILS, (id,)).fetchone()
    return Record(
        agent="opencode",
        id=id,
        path=str(path),
        folder=str(folder),
        title=str(title),
        last_prompt=str(_decoded(last).get("text", "")).strip(),
        prompts=prompts,
        size=size or 0,
        modified_at=Millis(updated),
    )


def turns(path: Path, id: str) -> tuple[list[Turn], int]:
    """And how many parts could not be read."""
    found: list[Turn] = []
    torn = 0
    with opened(path) as db:
        for message, part in db.execute(PARTS, (id,)):
            try:
                found += _said(_decode(message), _decode(part))
            except UNREADABLE:
                torn += 1
    return found, torn


def _said(message: dict[str, Any], part: dict[str, Any]) -> list[Turn]:
    text = str(part.get("text", ""))
    match message.get("role"), part.get("type"):
        case "user", "text":
            return [UserSaid(text=text.strip())] if text.strip() else []
        case "assistant", "text":
            return [AgentSaid(text=text, model=str(message.get("modelID", "")))]
        case "assistant", "reasoning":
            return [AgentSaid(thinking=text)]
        case "assistant", "tool":
            return _called(part)
        case _:
            return []


def _called(part: dict[str, Any]) -> list[Turn]:
    state = part.get("state") or {}
    id = str(part.get("callID"))
    made = CallMade(id=id, name=str(part.get("tool")), arguments=as_json(state.get("input", {})))
    match state.get("status"):
        case "completed":
            return [made, CallDone(id=id, output=str(state.get("output", "")))]
        case "error":
            return [made, CallDone(id=id, output=str(state.get("error", "")), failed=True)]
        case _:
            return [made]


def _decode(text: str) -> dict[str, Any]:
    return msgspec.json.decode(text, type=dict[str, Any])


def _decoded(text: str | None) -> dict[str, Any]:
    try:
        return _decode(text or "{}")
    except UNREADABLE:
        return {}
