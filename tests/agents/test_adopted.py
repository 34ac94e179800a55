"""Conversations that an agent had without us, and how they go on: in its own record, or in a fork of it."""

# spec: E15, E5, E12, M1

import json
import sys
from pathlib import Path

import pytest

from tests.agents.machine import Machine

SAMPLE = Path(__file__).parent / "transcripts" / "samples" / "claude.jsonl"
ID = "11111111-1111-4111-8111-111111111111"
PROGRAM = [sys.executable, "-m", "holdfast.testing.oneshot_agent", "-p"]
RESUME = [*PROGRAM, "--resume", "{id}"]
ACP = [sys.executable, "-m", "holdfast.testing.acp_agent"]


class Left(Machine):
    """Claude Code was here; in its place there is now one that plays a script."""

    def __init__(self, folder, *turns, forks=True, acp=None, program=sys.executable):
        self.theirs = folder / ".claude"
        self.record = self.theirs / "projects" / "fake" / f"{ID}.jsonl"
        self.record.parent.mkdir(parents=True)
        self.record.write_text(SAMPLE.read_text().replace("/home/user/repo", str(folder / "repo")))
        self.before = self.record.read_bytes()
        script = folder / "turns.jsonl"
        script.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
        environ = {"ONESHOT_HOME": str(self.theirs), "ONESHOT_SCRIPT": str(script)}
        super().__init__(folder, environ, self.config(folder, program, acp, forks=forks))

    def config(self, folder, program, acp, *, forks):
        fork = [*RESUME, "--fork-session", "--session-id", "{fork}"] if forks else []
        rows = [
            "[agents.claude]",
            f'program = "{program}"',
            f'via = ["{"acp" if acp else "oneshot"}"]',
            'environ = ["ONESHOT_*"]',
            "[agents.claude.oneshot]",
            f"start = {json.dumps([*PROGRAM, '--session-id', '{id}'])}",
            f"resume = {json.dumps(RESUME)}",
            f"fork = {json.dumps(fork)}",
        ]
        if acp is not None:
            script = folder / "script.json"
            script.write_text(json.dumps(acp))
            store = folder / "script.json.store"
            store.mkdir()
            (store / f"{ID}.jsonl").touch()
            command = json.dumps([*ACP, str(script)])
            rows += ["[agents.claude.acp]", f'program = "{sys.executable}"', f"command = {command}"]
        return "\n".join(rows)

    def adopt(self, *args):
        done = self.hold("adopt", ID, *args, "--json")
        (found,) = json.loads(done.stdout)["adopted"]
        return found

    def asked(self, method):
        rows = (self.folder / "script.json.store" / "asked").read_text().splitlines()
        return [row["params"] for row in map(json.loads, rows) if row["method"] == method]

    def prompts(self, token):
        """As the agent itself has them, with the flags that it was started with."""
        path = self.record.with_stem(token)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [(row["text"], row["argv"]) for row in rows if row.get("role") == "user"]


def test_it_goes_on_in_the_agents_own_record(tmp_path):
    slow = {"text": "word " * 200, "chunk_ms": 50}
    with Left(tmp_path, {"text": "Third answer."}, slow) as machine:
        machine.record.touch()
        done = machine.hold("adopt", ID)
        assert "hold adopt --fork 11111111-1111 goes on in a copy" in done.stderr, "it may be open"
        assert machine.hold("adopt", "--fork", ok=False).returncode == 2
        id = machine.adopt()["session"]
        assert machine.send(id, "third prompt").last_stop.reason == "completed"
        assert machine.session(id).agent_session_id == ID
        assert machine.record.read_bytes().startswith(machine.before)
        assert [text for text, _ in machine.prompts(ID)] == ["third prompt"]

        other = machine.adopt("--fork")["session"]
        machine.client.post(f"/api/sessions/{id}/prompt", {"text": "at length"}, dict)
        machine.until(lambda: machine.saying(id))
        for command in (("send", other, "me too"), ("resume", other)):
            refused = machine.hold(*command, ok=False)
            assert refused.returncode == 2
            assert f"Session {id} is at work in {machine.repo}" in refused.stderr
        machine.hold("stop", id)


def test_a_fork_leaves_theirs_as_it_is_and_goes_on_in_its_own(tmp_path):
    """The first try is cut off before the fork has a name: it is made again."""
    with Left(tmp_path, {"crash_at": 0}, {"text": "Third."}, {"text": "Fourth."}) as machine:
        id = machine.adopt("--fork")["session"]
        assert machine.plan(id).strategy == "native"
        failed = machine.send(id, "second prompt")
        assert (failed.last_stop.reason, failed.agent_session_id) == ("error", None)
        token = machine.send(id, "third prompt").agent_session_id
        assert token not in (None, ID)
        assert machine.send(id, "fourth prompt").agent_session_id == token
        assert machine.record.read_bytes() == machine.before
        (third, forked), (fourth, resumed) = machine.prompts(token)
        assert (third.endswith("third prompt"), fourth) == (True, "fourth prompt")
        assert (ID in forked, "--fork-session" in forked) == (True, True)
        assert (token in resumed, "--fork-session" in resumed) == (True, False)
        assert machine.events(id, "context_lost") == []
        assert machine.adopt()["session"] != id, "theirs can still be taken in"


def test_an_agent_that_cannot_fork_begins_its_own_with_the_history(tmp_path):
    with Left(tmp_path, {"text": "Third."}, forks=False) as machine:
        id = machine.adopt("--fork")["session"]
        plan = machine.plan(id)
        assert (plan.strategy, "cannot fork" in plan.why) == ("inject", True)
        token = machine.send(id, "third prompt").agent_session_id
        ((text, _),) = machine.prompts(token)
        assert "[USER]: first prompt: look" in text and text.count("third prompt") == 1
        assert machine.record.read_bytes() == machine.before


def test_one_that_goes_on_in_theirs_after_all_is_told_of(tmp_path):
    with Left(tmp_path, {"text": "Third.", "same_id": True}) as machine:
        id = machine.adopt("--fork")["session"]
        machine.send(id, "third prompt")
        (lost,) = machine.events(id, "context_lost")
        assert f"did not fork the conversation {ID}" in lost.data["why"]


@pytest.mark.parametrize("can", [["resume", "fork"], ["resume"]])
def test_over_acp_it_is_forked_where_the_agent_can_and_never_resumed(tmp_path, can):
    with Left(tmp_path, acp={"can": can, "turns": [[{"text": "Third."}]]}) as machine:
        id = machine.adopt("--fork")["session"]
        after = machine.send(id, "third prompt")
        assert after.last_stop.reason == "completed"
        assert after.agent_session_id not in (None, ID)
        forks = [row["sessionId"] for row in machine.asked("session/fork")]
        assert forks == ([ID] if "fork" in can else [])
        assert machine.asked("session/resume") == []
        lost = machine.events(id, "context_lost")
        sent = machine.asked("session/prompt")[0]["prompt"][0]["text"]
        injected = "[USER]: first prompt: look" in sent
        assert (bool(lost), injected) == (("fork" not in can),) * 2


def test_what_its_agent_is_not_installed_for_is_read_and_waits_for_it(tmp_path):
    with Left(tmp_path, {"text": "Third."}, program="no-such-program") as machine:
        found = machine.adopt()
        refused = machine.hold("resume", found["session"], ok=False)
        assert refused.returncode == 2
        assert "claude cannot be run: its program is not installed" in refused.stderr
        assert "npm install -g @anthropic-ai/claude-code" in refused.stderr
        assert "first prompt: look" in machine.hold("logs", found["session"]).stdout
        config = machine.home / "config.toml"
        config.write_text(config.read_text().replace("no-such-program", sys.executable))
        machine.hold("down")
        machine.up()
        assert machine.send(found["session"], "third prompt").agent_session_id == ID
