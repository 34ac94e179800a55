"""A real daemon with an ACP agent from its configuration: killed, restarted, opened, prompted."""

# spec: E2, G1, G2, G3, G4, G5, G7, G8, E8, D6

import json
import sys

import pytest

from tests.agents.acp.rig import text
from tests.agents.machine import Machine

SLOW = [*text("Half of "), {"tool": {"id": "c1", "title": "Build"}}, {"hang": 1}]


@pytest.fixture
def machine(tmp_path):
    script = tmp_path / "script.json"
    command = [sys.executable, "-m", "holdfast.testing.acp_agent", str(script)]
    config = f"[agents.mine]\nacp = {json.dumps(command)}\n[mcp.db]\ncommand = ['db', '-x']\n"
    with Machine(tmp_path, {}, config) as opened:
        opened.write = lambda **rows: script.write_text(json.dumps(rows))
        yield opened


def asked(machine, method):
    rows = (machine.folder / "script.json.store" / "asked").read_text().splitlines()
    return [row for row in map(json.loads, rows) if row["method"] == method]


def test_killed_in_the_middle_of_a_turn_and_carried_on(machine):
    machine.write(turns=[SLOW, text("and done")], stays=True, ignores_term=True)
    id = machine.begin("mine", "build it", via="acp", mode="edits")
    machine.until(lambda: machine.events(id, "call_finished"))
    machine.kill()
    assert machine.carriers(id)  # it does not go by itself
    machine.up()
    assert [] == machine.carriers(id)
    session = machine.session(id)
    assert ("interrupted", "WAITING_FOR_INPUT") == (session.stop.reason, session.state)
    status = machine.status(id)
    assert ("agent_not_running", True, True) == (
        status["reason"],
        status["is_resumable"],
        status["needs_resume"],
    )
    assert 1 == len(asked(machine, "initialize"))  # nothing is started by itself
    session = machine.resumed(id)
    assert ("completed", "acp") == (session.last_stop.reason, session.via)
    first, second = [row["params"]["prompt"][0]["text"] for row in asked(machine, "session/prompt")]
    assert "build it" == first and second.startswith("[SESSION_RESUMED]")
    assert "Half of and done" == machine.said(id)
    assert 1 == len(machine.carriers(id))
    assert "running" == machine.status(id)["reason"]


def test_opening_brings_it_back_idle_once_and_a_prompt_to_a_cold_one_waits(machine):
    machine.write(turns=[text("one"), text("two"), text("three")])
    id = machine.run("mine", "go", via="acp", mode="edits").id
    machine.kill()
    machine.up()
    for _ in range(2):
        machine.client.post(f"/api/sessions/{id}/reattach", {}, dict)
    machine.until(lambda: machine.events(id, "reattached"))
    assert 2 == len(asked(machine, "initialize")) and 1 == machine.runs(id)
    assert "WAITING_FOR_INPUT" == machine.session(id).state
    server = {"name": "db", "command": "db", "args": ["-x"], "env": []}
    assert [[server]] == [r["params"]["mcpServers"] for r in asked(machine, "session/resume")]
    machine.hold("down")
    assert [] == machine.carriers(id)
    machine.up()
    assert "completed" == machine.send(id, "more").last_stop.reason
    assert "onetwo" == machine.said(id)
    assert ["s1", "s1"] == [r["params"]["sessionId"] for r in asked(machine, "session/resume")]


def test_an_agent_that_is_not_there_is_refused_before_anything_begins(machine):
    done = machine.hold("run", "--agent", "mien", "x", ok=False)
    assert done.returncode and "There is no agent 'mien'" in done.stderr
