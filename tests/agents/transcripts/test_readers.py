"""What five programs really wrote (samples, shortened), and a database as OpenCode makes it."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from holdfast.agents.transcripts import opencode
from holdfast.agents.transcripts.scan import READERS, scan, whole
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, UserSaid

SAMPLES = Path(__file__).parent / "samples"
AGENTS = sorted(READERS)


def gist(turns):
    """Without what differs from agent to agent: names of calls and models."""
    found = []
    for turn in turns:
        match turn:
            case UserSaid(text=text):
                found.append(("user", text))
            case AgentSaid(text=text) if text:
                found.append(("agent", text))
            case CallMade(arguments=arguments):
                found.append(("call", "echo hi" in arguments))
            case CallDone(output=output):
                found.append(("done", bool(output)))
    return found


CONVERSATION = [
    ("user", "first prompt: look"),
    ("agent", "I will look around."),
    ("call", True),
    ("done", True),
    ("agent", "There is nothing here yet."),
    ("user", "second prompt"),
    ("agent", "Second answer, with **bold**."),
]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_conversation_is_read_from_every_agents_own_record(agent):  # spec: E11 E15
    turns, torn = whole(SAMPLES / f"{agent}.jsonl", agent)
    assert (gist(turns), torn) == (CONVERSATION, 0)
    made = [turn for turn in turns if isinstance(turn, CallMade)]
    done = [turn for turn in turns if isinstance(turn, CallDone)]
    assert [call.id for call in made] == [call.id for call in done]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_list_shows_whose_it_is_and_what_it_was_about(agent):  # spec: E15
    record = scan(SAMPLES / f"{agent}.jsonl", None, agent).record
    assert (record.title, record.last_prompt) == ("first prompt: look", "second prompt")
    assert record.prompts >= 2
    assert record.id.startswith("01a1e1d2" if agent == "codex" else "11111111")
    assert agent == "gemini" or record.folder == "/home/user/repo"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_line_that_is_passed_over_for_the_list_has_no_prompt_in_it(agent):  # spec: E15
    """However it is spaced; and those with what tools printed are passed over."""
    rows = (SAMPLES / f"{agent}.jsonl").read_bytes().splitlines(keepends=True)
    for lines in (rows, [json.dumps(json.loads(row)).encode() + b"\n" for row in rows]):
        reader = READERS[agent]()
        asked = [(reader.may_ask(line), reader.feed(line)) for line in lines]
        passed_over = [turn for asks, turns in asked if not asks for turn in turns]
        assert not [turn for turn in passed_over if isinstance(turn, UserSaid)]
        assert [turn for turn in passed_over if isinstance(turn, CallDone)]


@pytest.mark.parametrize("agent", AGENTS)
def test_torn_lines_are_skipped_and_counted(agent, tmp_path):  # spec: E15 M1
    text = (SAMPLES / f"{agent}.jsonl").read_bytes()
    path = tmp_path / "torn.jsonl"
    path.write_bytes(b'{"type":"user","mess\n' + text + b"\x00\xff\xfe\n[]\n" + text[:40])
    turns, torn = whole(path, agent)
    assert (gist(turns), torn >= 2) == (CONVERSATION, True)


@pytest.mark.parametrize("agent", AGENTS)
def test_reading_on_where_a_file_has_grown_finds_what_reading_it_whole_finds(agent, tmp_path):
    """At every line, and in the middle of each: the last line counts when it is finished."""  # spec: E15
    lines = (SAMPLES / f"{agent}.jsonl").read_bytes().splitlines(keepends=True)
    path, seen = tmp_path / "growing.jsonl", None
    path.write_bytes(b"")
    with path.open("ab") as file:
        for line in lines:
            for part in (line[: len(line) // 2], line[len(line) // 2 :]):
                file.write(part)
                file.flush()
                seen = scan(path, seen, agent)
    expected = scan(path, None, agent)
    assert (seen.record.title, seen.record.last_prompt, seen.record.id, seen.offset) == (
        expected.record.title,
        expected.record.last_prompt,
        expected.record.id,
        path.stat().st_size,
    )


def test_a_file_that_did_not_change_is_not_opened(tmp_path):  # spec: E15
    path = tmp_path / "same.jsonl"
    path.write_bytes((SAMPLES / "qwen.jsonl").read_bytes())
    seen = scan(path, None, "qwen")
    assert scan(path, seen, "qwen") is seen


def test_a_link_is_not_followed(tmp_path):  # spec: M1
    path = tmp_path / "link.jsonl"
    path.symlink_to(SAMPLES / "qwen.jsonl")
    assert scan(path, None, "qwen") is None


def test_a_branch_that_was_left_is_not_part_of_the_conversation(tmp_path):  # spec: E15
    """Two resumes at once split Claude's file; the newest leaf's branch is what it goes on with."""

    def line(uuid, parent, role, text):
        content = text if role == "user" else [{"type": "text", "text": text}]
        return {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/r"} | {
            "message": {"role": role, "content": content}
        }

    rows = [
        line("1", None, "user", "begin"),
        line("2", "1", "assistant", "begun"),
        line("3", "2", "user", "left"),
        line("4", "3", "assistant", "lost"),
        line("5", "2", "user", "taken"),
        line("6", "5", "assistant", "kept"),
    ]
    path = tmp_path / "tree.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    turns, _ = whole(path, "claude")
    assert [text for _, text in gist(turns)] == ["begin", "begun", "taken", "kept"]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "opencode.db"
    db = sqlite3.connect(path)
    db.executescript("""
        create table session (id text, directory text, title text, time_updated integer, parent_id text);
        create table message (id text, session_id text, data text);
        create table part (id text, message_id text, session_id text, data text);
        insert into session values ('ses_1', '/home/user/repo', 'A title', 1794790063855, null);
        insert into session values ('ses_2', '/home/user/repo', 'A child', 1, 'ses_1');
    """)
    tool = {"type": "tool", "callID": "c", "tool": "bash"}
    tool["state"] = {"status": "completed", "input": {"command": "echo hi"}, "output": "hi"}
    said = [
        ("user", {"type": "text", "text": "first prompt: look\n"}),
        ("assistant", {"type": "step-start"}),
        ("assistant", {"type": "text", "text": "I will look around."}),
        ("assistant", tool),
        ("assistant", {"type": "text", "text": "There is nothing here yet."}),
        ("user", {"type": "text", "text": "second prompt"}),
        ("assistant", {"type": "text", "text": "Second answer, with **bold**."}),
    ]
    for n, (role, part) in enumerate(said):
        message = json.dumps({"role": role}, separators=(",", ":"))
        data = json.dumps(part, separators=(",", ":"))
        db.execute("insert into message values (?, 'ses_1', ?)", (f"m{n}", message))
        db.execute("insert into part values (?, ?, 'ses_1', ?)", (f"p{n}", f"m{n}", data))
    db.commit()
    db.close()
    return path


def test_opencodes_database_is_read_and_not_written(database):  # spec: E11 E15
    before = database.read_bytes()
    record = opencode.records(database)[0]
    turns, torn = opencode.turns(database, "ses_1")
    assert (gist(turns), torn) == (CONVERSATION, 0)
    assert (record.id, record.prompts, record.last_prompt) == ("ses_1", 2, "second prompt")
    assert len(opencode.records(database)) == 1, "a sub-agent's session is not listed"
    assert before == database.read_bytes()


def test_of_opencodes_database_only_what_changed_is_looked_into(database):  # spec: E15
    (record,) = opencode.records(database)
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.execute("delete from part")
    assert opencode.records(database, {record.id: record}) == [record]
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.execute("update session set time_updated = time_updated + 1")
    (later,) = opencode.records(database, {record.id: record})
    assert (later.size, later.last_prompt) == (0, "")
