"""A machine with a scripted agent in a real tmux."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from holdfast.runtimes.tmux import Tmux
from tests.agents.machine import Machine

AGENT = f'"{sys.executable}", "-m", "holdfast.testing.terminal_agent"'
CONFIG = f"""
[agents.fake]
program = "{sys.executable}"
environ = ["TERMINAL_*"]
[agents.fake.terminal]
format = "claude"
start = [{AGENT}, "--session-id", "{{id}}", "{{hooks}}", "{{prompt}}"]
resume = [{AGENT}, "--resume", "{{id}}", "{{hooks}}", "{{prompt}}"]
unknown = ["No conversation found"]
modes = {{ full = [] }}
HOOKS
[agents.fake.transcript]
root = ["$TERMINAL_HOME"]
pattern = "projects/*/{{id}}.jsonl"
"""


class Fake(Machine):
    def __init__(self, folder, *turns, hooks=True, asks=False):
        self.memory = folder / "memory"
        script = folder / "turns.jsonl"
        script.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
        environ = {"TERMINAL_HOME": str(self.memory), "TERMINAL_SCRIPT": str(script)}
        flag = 'hooks = ["--settings", "{hooks}"]' if hooks else ""
        flag += '\nasks = ["May I?"]' if asks else ""
        super().__init__(folder, environ, CONFIG.replace("HOOKS", flag))
        self.tmux = Tmux(self.home)

    def __exit__(self, *_):
        self.hold("down", "--kill", ok=False)
        with contextlib.suppress(AssertionError):
            self.until(lambda: not self.client.answers())
        kill = ["tmux", "-L", self.tmux.server, "kill-server"]
        subprocess.run(kill, capture_output=True, check=False)

    def begin(self, prompt="go", **how):
        return super().begin("fake", prompt, via="terminal", **how)

    def run(self, prompt="go", **how):
        return self.stopped(self.begin(prompt, **how))

    def panes(self):
        command = ["tmux", "-L", self.tmux.server, "list-panes", "-a", "-F", "#{session_name}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.split()

    def agent(self, id):
        """The pid of the program itself."""
        found = [pid for pid, line in self.lines(id) if "terminal_agent" in line]
        return int(found[0])

    def lines(self, id):
        """Whoever belongs to this session and lives: pid and command line."""
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and f"HOLDFAST_COOKIE={id}".encode() in (
                    (folder / "environ").read_bytes()
                ):
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    yield folder.name, line

    def shoot(self, id):
        os.kill(self.agent(id), signal.SIGKILL)

    def record(self, token):
        path = self.memory / "projects" / "fake" / f"{token}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def prompts(self, token):
        rows = [row["message"]["content"] for row in self.record(token) if row["type"] == "user"]
        return [row for row in rows if isinstance(row, str)]

    def starts(self):
        return [json.loads(line) for line in (self.memory / "starts").read_text().splitlines()]

    def texts(self, id):
        return [event.data["text"] for event in self.events(id, "text_saved")]

    def press(self, id, *keys):
        name = next(name for name in self.panes() if name.startswith(id))
        command = ["tmux", "-L", self.tmux.server, "send-keys", "-t", f"={name}:", *keys]
        subprocess.run(command, check=True)
