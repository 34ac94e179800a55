"""The real Claude Code with its own screen, in a real tmux, against a scripted model on loopback."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from holdfast.runtimes.tmux import Tmux
from tests.agents.machine import Machine
from tests.agents.real.test_real import REAL, Model, claude, shell

# spec: E2 E4 E8 E11 D6 D7 G1 G2 H1

WAY = "terminal"
pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]
KEY = "none-but-long-enough-to-be-a-key"


class Screened(Machine):
    """Its screen asks about much at a first start: all of that was answered before."""

    def __init__(self, folder, url):
        environ = {**claude(url, folder), "ANTHROPIC_API_KEY": KEY}
        super().__init__(folder, environ)
        self.tmux = Tmux(self.home)
        config = folder / "claude"
        config.mkdir()
        seed = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "bypassPermissionsModeAccepted": True,
            "projects": {str(self.repo): {"hasTrustDialogAccepted": True}},
        }
        (config / ".claude.json").write_text(json.dumps(seed))
        (config / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')

    def __exit__(self, *_):
        self.hold("down", "--kill", ok=False)
        with contextlib.suppress(AssertionError):
            self.until(lambda: not self.client.answers())
        kill = ["tmux", "-L", self.tmux.server, "kill-server"]
        subprocess.run(kill, capture_output=True, check=False)

    def begin(self, prompt):
        return super().begin("claude", prompt, via="terminal", here=True)

    def run(self, prompt):
        return self.stopped(self.begin(prompt))

    def screen(self):
        command = ["tmux", "-L", self.tmux.server, "list-panes", "-a", "-F", "#{session_name}"]
        names = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        shown = [["tmux", "-L", self.tmux.server, "capture-pane", "-p", "-t", n] for n in names]
        return "\n".join(subprocess.check_output(c, text=True) for c in shown)

    def until(self, true, seconds=100.0):
        try:
            return super().until(true, seconds)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.screen()}") from None


@pytest.fixture
def place(agent, tmp_path, request):
    if not os.environ.get(REAL):
        pytest.skip("run by make agents")
    program = shutil.which(agent)
    if program is None or shutil.which("tmux") is None:
        pytest.skip(f"{agent} or tmux is not installed")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    request.node.version = re.search(r"\d+\.\d+[\w.-]*", said.stdout)[0]
    return lambda url: Screened(tmp_path, url)


each_agent = pytest.mark.parametrize("agent", ["claude"])


@each_agent
def test_first_run_and_a_second_prompt_into_the_living_agent(agent, place, tmp_path):
    replies = ({"text": "The number is forty-two."}, {"text": "As I said."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run("Say the number ALPHA.")
        assert first.last_stop.reason == "completed", first.last_stop
        assert machine.said(first.id) == "The number is forty-two."
        second = machine.send(first.id, "Again,\nBETA.")
        assert second.last_stop.reason == "completed"
        assert second.agent_session_id == first.agent_session_id
        told = model.told()
        assert told.count("Say the number ALPHA.") == 1
        assert "forty-two" in told and "BETA." in told
        assert machine.said(first.id).endswith("As I said.")


@each_agent
def test_the_daemon_is_killed_and_the_agent_is_found_again(agent, place, tmp_path):
    nap = shell(agent, "sleep 6; echo rested")
    replies = ({"text": "Napping.", "tool_calls": nap}, {"text": "Awake."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Take a nap.")
        machine.until(lambda: machine.events(id, "call_observed"))
        machine.kill()
        machine.up()
        after = machine.stopped(id)
        assert after.last_stop.reason == "completed", after.last_stop
        assert machine.said(id) == "Napping.Awake."
        (result,) = machine.events(id, "call_finished")
        assert "rested" in result.data["output"]


@each_agent
def test_killed_in_mid_tool_and_resumed_the_model_is_told_what_is_unknown(agent, place, tmp_path):
    nap = shell(agent, "echo begun >> begun.txt; sleep 120")
    replies = ({"text": "Napping.", "tool_calls": nap}, {"text": "I looked."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Take a nap.")
        machine.until(lambda: machine.events(id, "call_observed"))
        machine.until((machine.repo / "begun.txt").exists)
        for pid in subprocess.check_output(["pgrep", "-x", "claude"], text=True).split():
            if f"HOLDFAST_COOKIE={id}" in _environ(pid):
                os.kill(int(pid), signal.SIGKILL)
        assert machine.stopped(id).last_stop.evidence["signal"] == signal.SIGKILL
        assert machine.carriers(id) == []
        after = machine.resumed(id)
        assert after.last_stop.reason == "completed", after.last_stop
        assert "sleep 120" in model.told().partition("Unknown")[2]
        assert model.told().count("Take a nap.") >= 1
        assert (machine.repo / "begun.txt").read_text() == "begun\n"


@each_agent
def test_a_cancel_stops_its_turn(agent, place, tmp_path):
    replies = ({"text": "word " * 400, "chunk_ms": 50}, {"text": "Back."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Write at length.")
        machine.until(lambda: model.asked)
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"
        assert machine.send(id, "And now?").last_stop.reason == "completed"


def _environ(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ") as file:  # noqa: PTH123
        return file.read()
    return ""
