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

    def until(self, true, seconds=PATIENCE):
        try:
            return super().until(true, seconds)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.screen()}") from None

    def shoot(self, id):
        """The agent itself, whatever launched it; not what it runs."""
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                environ = (folder / "environ").read_bytes() if folder.name.isdigit() else b""
                if f"HOLDFAST_COOKIE={id}".encode() in environ:
                    os.kill(int(folder.name), signal.SIGKILL)
