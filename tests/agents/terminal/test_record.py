"""What six programs really wrote, followed line by line: words, ids, costs, and the end of a turn."""

import json
import sqlite3
from pathlib import Path

import pytest

from holdfast.agents.terminal.account import Account
from holdfast.agents.terminal.beside import About, Over
from holdfast.agents.terminal.record import FORMATS, RecordReader
from holdfast.agents.transcripts import opencode_events
from holdfast.core import events as e
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, UserSaid
from holdfast.core.ids import RoundNumber

# spec: E11 E18 P2

SAMPLES = Path(__file__).parents[1] / "transcripts" / "samples"
EVENTS = (SAMPLES / "opencode_events.jsonl").read_bytes().splitlines()
# These say it by a hook, or only on their screens.
SILENT = {"gemini", "qwen"}


def read(format, lines):
    reader = RecordReader(format)
    return [sign for line in lines for sign in reader.read(line)]


def sample(format):
    name = "opencode_events" if format == "opencode" else format
    return read(format, (SAMPLES / f"{name}.jsonl").read_bytes().splitlines())


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_id_of_the_last_message_is_kept(format):
    account = Account(RoundNumber(0), known=RoundNumber(0))
    told, known = [], None
    for sign in sample(format):
        if isinstance(sign, About):
            account.know(sign)
            known = sign.message_id or known
        elif isinstance(sign, AgentSaid | CallMade | CallDone):
            told += account.hear(sign)
    told += account.close()
    finished = [word for word in told if isinstance(word, e.ResponseFinished)]
    assert known is not None
    assert finished[-1].message_id == known
    assert all(word.message_id for word in finished)


@pytest.mark.parametrize("format", sorted(set(FORMATS) - SILENT))
def test_a_record_says_that_a_turn_is_over(format):
    overs = [sign for sign in sample(format) if isinstance(sign, Over)]
    assert len(overs) == 2
    assert not overs[0].failed and not overs[0].cancelled


def test_claude_is_taken_back_to_a_line_not_to_a_message():
    """`--resume-session-at` wants the line's own id: "No message found with message.uuid of: msg_..."."""
    lines = (SAMPLES / "claude.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    ids = [row["uuid"] for row in rows if row["type"] == "assistant"]
    abouts = [sign for sign in sample("claude") if isinstance(sign, About)]
    assert [about.message_id for about in abouts] == ids


def test_opencode_a_text_is_said_before_the_call_that_followed_it():
    turns = [s for s in read("opencode", EVENTS) if not isinstance(s, About | Over)]
    assert [type(turn) for turn in turns] == [
        UserSaid,
        AgentSaid,
        CallMade,
        CallDone,
        AgentSaid,
        UserSaid,
    ]
    assert turns[1].text == "Running." and json.loads(turns[2].arguments)["command"]


def test_opencode_a_failure_has_its_status_and_its_words():
    *_, over = read("opencode", EVENTS)
    assert over == Over(failed=True, message="The scripted server answered 401.", status=401)


def test_opencode_rows_come_once_and_another_conversations_never(tmp_path):
    path = tmp_path / "opencode.db"
    with sqlite3.connect(path) as db:
        db.execute("create table event (aggregate_id text, seq integer, type text, data text)")
        for n, line in enumerate(EVENTS):
            row = json.loads(line)
            db.execute(
                "insert into event values ('ses_a', ?, ?, ?)",
                (n, row["type"], json.dumps(row["data"])),
            )
        db.execute("insert into event values ('ses_b', 0, 'session.created.1', '{}')")
    db.close()
    found = opencode_events.rows(path, "ses_a", 3)
    assert [end for _, end in found] == list(range(4, len(EVENTS) + 1))
    assert json.loads(found[0][0]) == json.loads(EVENTS[3])
    assert opencode_events.end(path, "ses_a") == len(EVENTS)
    assert opencode_events.rows(path, "ses_a", len(EVENTS)) == []
    assert opencode_events.rows(tmp_path / "none.db", "ses_a", 0) == []


@pytest.mark.parametrize(
    ("format", "line", "over"),
    [
        (
            "copilot",
            {"type": "session.error", "data": {"message": "429 slow", "statusCode": 429}},
            Over(failed=True, message="429 slow", status=429),
        ),
        ("copilot", {"type": "abort", "data": {}}, Over(cancelled=True)),
        (
            "codex",
            {"type": "event_msg", "payload": {"type": "turn_aborted"}},
            Over(cancelled=True),
        ),
        (
            "codex",
            {"type": "event_msg", "payload": {"type": "task_complete", "error": {"message": "x"}}},
            Over(failed=True, message="x"),
        ),
    ],
)
def test_how_a_turn_ended_badly(format, line, over):
    assert read(format, [json.dumps(line).encode()]) == [over]
