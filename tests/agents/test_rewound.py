"""An agent with a memory of its own, taken back to an earlier round: up to the message that ended it."""

# spec: D8, E18, E6

import json
import sys

import pytest

from tests.agents.machine import Machine

PROGRAM = [sys.executable, "-m", "holdfast.testing.oneshot_agent", "-p"]
RESUME = [*PROGRAM, "--resume", "{id}"]
FORK = [*RESUME, "--fork-session", "--session-id", "{fork}"]
ACP = [sys.executable, "-m", "holdfast.testing.acp_agent"]
HISTORY = "RESUME CONTEXT FOR CONTINUING TASK"


class Oneshot(Machine):
    def __init__(self, folder, *turns, able=True):
        self.place = folder / ".claude"
        script = folder / "turns.jsonl"
        script.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
        fork_at = [*FORK, "--resume-session-at", "{at}"] if able else []
        rows = [
            "[agents.claude]",
            f'program = "{sys.executable}"',
            'via = ["oneshot"]',
            'environ = ["ONESHOT_*"]',
            "[agents.claude.oneshot]",
            f"start = {json.dumps([*PROGRAM, '--session-id', '{id}'])}",
            f"resume = {json.dumps(RESUME)}",
            f"fork = {json.dumps(FORK)}",
            f"fork_at = {json.dumps(fork_at)}",
        ]
        environ = {"ONESHOT_HOME": str(self.place), "ONESHOT_SCRIPT": str(script)}
        super().__init__(folder, environ, "\n".join(rows))

    def record(self, token):
        return self.place / "projects" / "fake" / f"{token}.jsonl"

    def said_in(self, token):
        rows = [json.loads(line) for line in self.record(token).read_text().splitlines()]
        return [row["text"] for row in rows]


def test_it_begins_again_after_that_message_and_what_it_had_stays(tmp_path):
    """The first try dies before its fork has a name: it is made again, not gone without."""
    turns = [{"text": "One.", "uuid": "u1"}, {"text": "Two.", "uuid": "u2"}, {"crash_at": 0}]
    with Oneshot(tmp_path, *turns, {"text": "Instead.", "uuid": "u3"}) as machine:
        first = machine.run("claude", "first")
        id, token = first.id, first.agent_session_id
        machine.send(id, "second")
        before = machine.record(token).read_bytes()
        machine.hold("rewind", id, "--to", "1")
        assert machine.plan(id).strategy == "native"
        assert machine.send(id, "third").last_stop.reason == "error"
        back = machine.send(id, "fourth").agent_session_id
        assert back not in (None, token)
        assert machine.record(token).read_bytes() == before
        assert machine.said_in(back)[:2] == ["first", "One."]
        assert "fourth" in machine.said_in(back)[2] and HISTORY not in machine.said_in(back)[2]
        assert machine.events(id, "context_lost") == []
        assert machine.send(id, "fifth").agent_session_id == back
        machine.hold("rewind", id, "--to", "1")
        again = machine.send(id, "sixth").agent_session_id
        assert again not in (token, back)
        assert machine.said_in(again) == ["first", "One.", "sixth", "done"]


def test_a_message_that_it_does_not_know_any_more_is_no_dead_end(tmp_path):
    turns = [{"text": "One.", "uuid": "u1"}, {"text": "Two.", "uuid": "u2"}, {}, {"text": "Again."}]
    with Oneshot(tmp_path, *turns) as machine:
        first = machine.run("claude", "first")
        id, record = first.id, machine.record(first.agent_session_id)
        machine.send(id, "second")
        record.write_text(record.read_text().replace("u1", "u9"))
        machine.hold("rewind", id, "--to", "1")
        refused = machine.send(id, "third")
        assert refused.state == "WAITING_FOR_INPUT" and refused.agent_session_id is None
        back = machine.send(id, "fourth")
        assert back.last_stop.reason == "completed"
        (told, _) = machine.said_in(back.agent_session_id)
        assert HISTORY in told and "first" in told and "second" not in told


@pytest.mark.parametrize("turn", [{"uuid": "u1"}, {"text": "One.", "uuid": "u1", "command": "ls"}])
def test_one_that_cannot_or_whose_round_ended_with_calls_gets_our_record(tmp_path, turn):
    with Oneshot(tmp_path, turn, {"text": "Two."}, able="command" in turn) as machine:
        id = machine.run("claude", "first").id
        machine.send(id, "second")
        machine.hold("rewind", id, "--to", "1")
        plan = machine.plan(id)
        assert plan.strategy == "inject"
        assert ("cannot go back" in plan.why) is ("command" not in turn)
        back = machine.send(id, "third").agent_session_id
        (told, _) = machine.said_in(back)
        assert HISTORY in told and "first" in told and "second" not in told


def _acp(folder, **script):
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    rows = [
        "[agents.claude]",
        f'program = "{sys.executable}"',
        'via = ["acp"]',
        "[agents.claude.acp]",
        f'program = "{sys.executable}"',
        f"command = {json.dumps([*ACP, str(path)])}",
    ]
    return Machine(folder, {}, "\n".join(rows))


def _said(text, id):
    content = {"type": "text", "text": text}
    return [
        {"update": {"sessionUpdate": "agent_message_chunk", "content": content, "messageId": id}}
    ]


UNKNOWN = [-32602, "Invalid params: Fork point message m1 was not found in session s1"]


@pytest.mark.parametrize("refused", [False, True])
def test_over_acp_it_is_forked_up_to_the_message(tmp_path, refused):
    turns = [_said("One.", "m1"), _said("Two.", "m2")]
    refuses = {"fork": UNKNOWN} if refused else {}
    with _acp(tmp_path, can=["resume", "fork"], turns=turns, refuses=refuses) as machine:
        first = machine.run("claude", "first", via="acp")
        machine.send(first.id, "second")
        machine.hold("rewind", first.id, "--to", "1")
        back = machine.send(first.id, "third")
        rows = (tmp_path / "script.json.store" / "asked").read_text().splitlines()
        asked = [json.loads(row) for row in rows]
        (fork,) = [row["params"] for row in asked if row["method"] == "session/fork"]
        assert fork["sessionId"] == first.agent_session_id
        assert fork["_meta"]["jetbrains"]["air"]["fork"] == {"version": 1, "messageId": "m1"}
        assert "session/resume" not in [row["method"] for row in asked]
        assert back.last_stop.reason == "completed"
        assert back.agent_session_id not in (None, first.agent_session_id)
        assert bool(machine.events(first.id, "token_dropped")) is refused
        told = [row["params"] for row in asked if row["method"] == "session/prompt"][-1]
        text = told["prompt"][0]["text"]
        assert (HISTORY in text) is refused and "third" in text and "second" not in text
