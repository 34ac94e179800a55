"""What goes wrong with an agent that is not ours, as its user meets it: one clear sentence, a session that
waits, its conversation kept, and a resume that works once the cause is gone."""

# spec: M1, E5, E6, E12, E17

import json
import sys

from tests.agents.machine import Machine

CURRENT = f'exec {sys.executable} -m holdfast.testing.oneshot_agent "$@"'
OUTDATED = "echo \"error: unknown option '--resume'\" >&2; exit 1"


class Fickle(Machine):
    """A one-shot agent whose program comes and goes."""

    def __init__(self, folder, *turns):
        self.program = folder / "agent"
        self.memory, script = folder / "memory", folder / "turns.jsonl"
        script.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
        self.install()
        environ = {"ONESHOT_HOME": str(self.memory), "ONESHOT_SCRIPT": str(script)}
        config = f"""
            [agents.fake]
            program = "{self.program}"
            package = "fake-agent"
            login = "fake login"
            environ = ["ONESHOT_*"]
            [agents.fake.oneshot]
            format = "claude"
            prompt = "stdin"
            start = ["{self.program}", "-p", "--session-id", "{{id}}"]
            resume = ["{self.program}", "-p", "--resume", "{{id}}"]
            unknown = ["No conversation found"]
            modes = {{ edits = [] }}
            [agents.fake.transcript]
            root = ["$ONESHOT_HOME"]
            pattern = "projects/*/{{id}}.jsonl"
        """
        super().__init__(folder, environ, config)

    def install(self, what=CURRENT):
        self.program.write_text(f"#!/bin/sh\n{what}\n")
        self.program.chmod(0o700)


def test_each_is_told_in_one_sentence_and_nothing_is_lost(tmp_path):
    refused = {"fail": {"status": 401, "message": "Invalid API key."}}
    big, forgets = {"text": "Through.", "big": 40 << 20}, {"forgets": True}
    turns = ({"text": "One."}, refused, big, forgets, {"text": "Two."})
    with Fickle(tmp_path, *turns) as machine:
        first = machine.run("fake", "go", mode="edits")

        def fails(*said):
            after = machine.resumed(first.id)
            assert after.state == "WAITING_FOR_INPUT"
            assert all(words in after.last_stop.message for words in said), after.last_stop
            return after.agent_session_id

        machine.program.unlink()
        missing = f"fake is not installed: there is no {machine.program}."
        tokens = [fails(missing, "Install it: npm install -g fake-agent")]
        machine.install(OUTDATED)
        tokens.append(
            fails("unknown option '--resume'", "Its version may not fit: see hold doctor")
        )
        machine.install()
        tokens.append(fails("Invalid API key. Log in: fake login"))
        assert tokens == [first.agent_session_id] * 3, "kept"

        assert machine.resumed(first.id).last_stop.reason == "completed"
        (notice,) = machine.events(first.id, "notice")
        assert "longer than 32 MB were left out: 1" in notice.data["text"]

        assert fails("does not know its earlier conversation", "it starts afresh") is None
        done = machine.hold("resume", first.id)
        assert "! The agent got our record of the conversation" in done.stdout
        assert machine.said(first.id) == "One. Through. Two. "
