"""Transcripts as six agents leave them, by the gigabyte: the lines that they write, in their order and of their size.

Where the weight lies was read off real ones: in what tools printed, which most agents write twice, and in what
was sent to the model. A prompt is one line in fifty.
"""

import json
import random
import sqlite3
import uuid
from collections.abc import Iterator
from pathlib import Path

SHARES = {
    "claude": 0.5,
    "codex": 0.3,
    "gemini": 0.06,
    "qwen": 0.05,
    "copilot": 0.05,
    "opencode": 0.04,
}
USUAL = 1_200_000  # bytes of one conversation, about
WORDS = (
    'the test fails because `session.lease` is "None" when the owner died; I read it again\n'
    "    def renew(self, now): return self.until > now and not self.fenced  # ä, ö\n"
    'src/engine/recovery.py:118: error: Item "None" has no attribute "generation"\n'
)
Row = dict[str, object]


def make(home: Path, size: int, seed: int = 7) -> dict[str, int]:
    """Below `home`, about `size` bytes. How many conversations of each agent there are then."""
    chance = random.Random(seed)
    made = {}
    for agent, share in SHARES.items():
        left, made[agent] = size * share, 0
        if agent == "opencode":
            made[agent] = _database(home, left, chance)
            continue
        while left > 0:
            wanted = min(left, USUAL * chance.lognormvariate(0, 1))
            left -= _write(home, agent, wanted, chance)
            made[agent] += 1
    return made


def grow(path: Path, seed: int = 8) -> int:
    """One more turn at the end of a file of Claude's."""
    rows = _claude_turn(str(uuid.UUID(path.stem)), random.Random(seed))
    with path.open("ab") as file:
        return file.write(b"".join(map(_line, rows)))


def _write(home: Path, agent: str, wanted: float, chance: random.Random) -> int:
    id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    head, turn, place = KINDS[agent]
    path = home / place.format(id=id, id8=id[:8], n=chance.randrange(40))
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with path.open("wb") as file:
        for row in head(id):
            size += file.write(_line(row))
        while size < wanted:
            size += file.write(b"".join(map(_line, turn(id, chance))))
    return size


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _text(chance: random.Random, most: int) -> str:
    return (WORDS * (most // len(WORDS) + 1))[: chance.randrange(40, most)]


def _calls(chance: random.Random) -> range:
    return range(chance.randrange(5, 25))


# --- one agent each ---------------------------------------------------------------------------------


def _claude_turn(id: str, chance: random.Random) -> Iterator[Row]:
    parent = None
    about = {"userType": "external", "cwd": "/home/user/repo", "sessionId": id}
    about |= {"version": "2.1.325", "gitBranch": "main", "timestamp": "2026-11-16T00:46:41.015Z"}

    def row(kind: str, content: object, **more: object) -> Row:
        nonlocal parent
        before, parent = parent, str(uuid.UUID(int=chance.getrandbits(128)))
        message = {"role": kind, "content": content}
        chain = {"parentUuid": before, "isSidechain": False, "type": kind, "message": message}
        return {**chain, "uuid": parent, **more, **about}

    prompt = _text(chance, 400)
    yield {"type": "queue-operation", "operation": "enqueue", "sessionId": id, "content": prompt}
    yield row("user", prompt)
    for n in _calls(chance):
        blob = {"role": "user", "content": [{"type": "text", "text": _text(chance, 6000)}]}
        yield {"type": "api-request", "sessionId": id, "id": str(n), "params": {"messages": [blob]}}
        yield row("assistant", [{"type": "text", "text": _text(chance, 1500)}])
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash"}
        yield row("assistant", [{**use, "input": {"command": _text(chance, 800)}}])
        printed = _text(chance, 12_000)
        done = {"tool_use_id": f"toolu_{n}", "type": "tool_result", "content": printed}
        yield row("user", [done], toolUseResult={"stdout": printed, "stderr": ""})
    yield {"type": "last-prompt", "lastPrompt": prompt, "sessionId": id}


def _codex_head(id: str) -> Iterator[Row]:
    meta = {"id": id, "cwd": "/home/user/repo", "git": {"branch": "main"}}
    yield {"type": "session_meta", "payload": {**meta, "base_instructions": WORDS * 60}}


def _codex_turn(id: str, chance: random.Random) -> Iterator[Row]:
    def item(**payload: object) -> Row:
        return {
            "timestamp": "2026-11-16T00:46:44.870Z",
            "type": "response_item",
            "payload": payload,
        }

    yield {"type": "turn_context", "payload": {"cwd": "/home/user/repo", "model": "gpt-5"}}
    asked = [{"type": "input_text", "text": _text(chance, 400)}]
    yield item(type="message", role="user", content=asked)
    yield {"type": "event_msg", "payload": {"type": "user_message", "message": asked[0]["text"]}}
    for n in _calls(chance):
        said = [{"type": "output_text", "text": _text(chance, 1500)}]
        yield item(type="reasoning", summary=[], encrypted_content="gAAAAAB" * 200)
        yield item(type="message", role="assistant", content=said)
        yield item(
            type="function_call", name="shell", arguments=_text(chance, 800), call_id=f"c{n}"
        )
        printed = _text(chance, 12_000)
        yield item(type="function_call_output", call_id=f"c{n}", output=printed)
        event = {"type": "exec_command_end", "call_id": f"c{n}", "aggregated_output": printed}
        yield {"type": "event_msg", "payload": event}


def _gemini_head(id: str) -> Iterator[Row]:
    yield {"sessionId": id, "projectHash": "a987", "startTime": "2026-11-16T00:46:51.443Z"}


def _gemini_turn(id: str, chance: random.Random) -> Iterator[Row]:
    def named(kind: str, content: object, **more: object) -> Row:
        return {"id": f"{chance.getrandbits(64):x}", "type": kind, "content": content, **more}

    yield named("user", [{"text": _text(chance, 400)}])
    for n in _calls(chance):
        said = _text(chance, 1500)
        answer = {"id": f"c{n}", "response": {"output": _text(chance, 12_000)}}
        result = [{"functionResponse": answer}]
        call = {"id": f"c{n}", "name": "run_shell_command", "args": {}, "result": result}
        yield named("gemini", said, model="gemini-2.5-pro", toolCalls=[call])
        yield named("user", result)
        yield {"$set": {"lastUpdated": "2026-11-16T00:46:51.565Z"}}


def _qwen_turn(id: str, chance: random.Random) -> Iterator[Row]:
    def row(kind: str, parts: object) -> Row:
        about = {"sessionId": id, "type": kind, "cwd": "/home/user/repo", "version": "0.24.4"}
        return {"uuid": f"{chance.getrandbits(64):x}", **about, "message": {"parts": parts}}

    yield row("user", [{"text": _text(chance, 400)}])
    for n in _calls(chance):
        call = {"id": f"c{n}", "name": "run_shell_command", "args": {"command": "make"}}
        yield row("assistant", [{"text": _text(chance, 1500)}, {"functionCall": call}])
        answer = {"id": f"c{n}", "response": {"output": _text(chance, 12_000)}}
        yield row("tool_result", [{"functionResponse": answer}])


def _copilot_head(id: str) -> Iterator[Row]:
    context = {"cwd": "/home/user/repo", "branch": "main"}
    yield {"type": "session.start", "data": {"sessionId": id, "context": context}}


def _copilot_turn(id: str, chance: random.Random) -> Iterator[Row]:
    def row(kind: str, **data: object) -> Row:
        return {"type": kind, "data": data, "timestamp": "2026-11-16T00:47:06.359Z"}

    prompt = _text(chance, 400)
    yield row("user.message", content=prompt, transformedContent=prompt * 2)
    for n in _calls(chance):
        asked = [{"toolCallId": f"c{n}", "name": "bash", "arguments": {"command": "make"}}]
        yield row("assistant.message", content=_text(chance, 1500), toolRequests=asked)
        printed = {"content": _text(chance, 12_000), "detailedContent": _text(chance, 12_000)}
        yield row("tool.execution_complete", toolCallId=f"c{n}", success=True, result=printed)


def _no_head(id: str) -> Iterator[Row]:
    return iter(())


KINDS = {
    "claude": (_no_head, _claude_turn, ".claude/projects/-home-user-repo-{n}/{id}.jsonl"),
    "codex": (_codex_head, _codex_turn, ".codex/sessions/2026/11/{n:02}/rollout-2026-{id}.jsonl"),
    "gemini": (_gemini_head, _gemini_turn, ".gemini/tmp/{n}/chats/session-2026-{id8}.jsonl"),
    "qwen": (_no_head, _qwen_turn, ".qwen/projects/-home-user-repo-{n}/chats/{id}.jsonl"),
    "copilot": (_copilot_head, _copilot_turn, ".copilot/session-state/{id}/events.jsonl"),
}


def _database(home: Path, size: float, chance: random.Random) -> int:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    db.executescript("""
        create table session (id text primary key, directory text, title text, time_updated integer,
            parent_id text);
        create table message (id text primary key, session_id text, data text);
        create table part (id text primary key, message_id text, session_id text, data text);
        create index message_session on message (session_id);
        create index part_session on part (session_id);
        create index part_message on part (message_id);
    """)
    sessions = max(1, int(size / USUAL))
    for n in range(sessions):
        about = (f"ses_{n}", "/home/user/repo", f"conversation {n}", 1_794_790_000_000 + n)
        db.execute("insert into session values (?, ?, ?, ?, null)", about)
        left, row = size / sessions, 0
        while left > 0:
            user = row % 20 == 0
            state = {"status": "completed", "output": _text(chance, 12_000)}
            part = {"type": "tool", "callID": f"c{row}", "tool": "bash", "state": state}
            data = _json({"type": "text", "text": _text(chance, 400)} if user else part)
            names = (f"{n:04}-{row:06}", f"ses_{n}")
            role = _json({"role": "user" if user else "assistant"})
            db.execute("insert into message values (?, ?, ?)", (*names, role))
            db.execute("insert into part values (?, ?, ?, ?)", (names[0], *names, data))
            left, row = left - len(data), row + 1
    db.commit()
    db.close()
    return sessions


def _json(row: object) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
