"""Where a real agent is run with its own screen: a machine of its own, in a real tmux."""

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

from holdfast.runtimes.tmux import Tmux
from tests.agents.machine import Machine
from tests.agents.real.test_real import AGENTS

KEY = "none-but-long-enough-to-be-a-key"
PATIENCE = 100.0
IMPATIENCE = 45.0


def claude(folder):
    """Its screen asks about much at a first start: all of that was answered before."""
    place = folder / "claude"
    place.mkdir()
    seed = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "bypassPermissionsModeAccepted": True,
        "projects": {str(folder / "repo"): {"hasTrustDialogAccepted": True}},
    }
    (place / ".claude.json").write_text(json.dumps(seed))
    (place / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')
    return {"ANTHROPIC_API_KEY": KEY}


SEEDS = {"claude": claude}


class Screened(Machine):
    def __init__(self, folder, url, agent):
        # The start of one and the other is slow where much else is going on.
        self.patience = PATIENCE * (3 if agent == "opencode" else 1)
        environ = AGENTS[agent](url, folder)
        environ |= SEEDS[agent](folder) if agent in SEEDS else {}
        super().__init__(folder, environ)
        self.agent, self.tmux = agent, Tmux(self.home)

    def __exit__(self, *_):
        self.hold("down", "--kill", ok=False)
        with contextlib.suppress(AssertionError):
            super().until(lambda: not self.client.answers())
        kill = ["tmux", "-L", self.tmux.server, "kill-server"]
        subprocess.run(kill, capture_output=True, check=False)

    def begin(self, prompt, **how):
        return super().begin(self.agent, prompt, via="terminal", here=True, **how)

    def run(self, prompt, **how):
        return self.stopped(self.begin(prompt, **how))

    def screen(self):
        command = ["tmux", "-L", self.tmux.server, "list-panes", "-a", "-F", "#{session_name}"]
        names = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        shown = [["tmux", "-L", self.tmux.server, "capture-pane", "-p", "-t", n] for n in names]
        return "\n".join(subprocess.check_output(c, text=True) for c in shown)

    def until(self, true, seconds=0.0):
        try:
            return super().until(true, seconds or self.patience)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.screen()}") from None

    def launches(self, id):
        return len(self.events(id, "launch_requested"))

    def shoot(self, id):
        """The agent itself, launcher and all; not what it runs."""
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if f"HOLDFAST_COOKIE={id}".encode() in (folder / "environ").read_bytes():
                    called = (folder / "cmdline").read_bytes().split(b"\0")[:2]
                    if any(self.agent.encode() in word.rpartition(b"/")[2] for word in called):
                        os.kill(int(folder.name), signal.SIGKILL)

    def patient(self, id):
        """Whether it still tries by itself after a while."""
        stopped = ("run_stopped",)
        with contextlib.suppress(AssertionError):
            super().until(lambda: self.events(id, *stopped), IMPATIENCE)
        return not self.events(id, *stopped)

    def cancelled(self, id):
        """It goes on trying by itself: that can be ended, and then nothing is left."""
        assert self.session(id).state == "RUNNING"
        self.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert self.stopped(id).last_stop.reason == "cancelled"
        self.hold("down", "--kill")
        self.until(lambda: self.carriers(id) == [])
        return "it tries again by itself for minutes; a cancel ends it"

    def answered(self, id, questions):
        """Says yes to what it asks now: a tool, or, before that, whether it may trust the folder."""
        for asked in self.session(id).pending:
            questions.append(asked.text)
            body = {"decision": asked.id, "answer": "yes"}
            self.client.post(f"/api/sessions/{id}/decisions", body, dict)
