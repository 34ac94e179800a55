"""A user at a terminal: a repository, a state folder, and the real `hold`."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 90.0
HOLD = Path(sys.executable).parent / "hold"
GIT = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null"}
GIT |= {"GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "a@b"}

QUICK = ({"text": "All is well."},)
SLOW = ({"text": "begun\n" + "word " * 400, "chunk_ms": 100}, {"text": "Done."})
WRITE = {"name": "write", "input": {"path": "a.txt", "content": "hello"}}
ASKING = ({"text": "May I?", "tool_calls": [WRITE]}, {"text": "Thank you."})  # with --mode ask
BUSY = tuple({"text": f"{n}", "tool_calls": [{"name": "list", "input": {}}]} for n in range(5))


def until(condition, what="it"):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen in {PATIENCE:.0f} s")


class User:
    def __init__(self, folder):
        self.home = folder / "state"
        self.repo = folder / "repo"
        self.folder = folder
        self.repo.mkdir(parents=True)
        for command in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "1"]):
            subprocess.run(["git", *command], cwd=self.repo, env={**os.environ, **GIT}, check=True)

    @property
    def environ(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        return {**kept, "HOLDFAST_HOME": str(self.home), "HOME": str(self.folder)}

    def script(self, rows):
        path = self.folder / f"script-{abs(hash(str(rows)))}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"scripted:{path}"

    # --- commands ---------------------------------------------------------------------------------

    def hold(self, *arguments, cwd=None, input=None):
        return subprocess.run(
            [HOLD, *arguments],
            cwd=cwd or self.repo,
            env=self.environ,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=PATIENCE,
            check=False,
        )

    def begin(self, *arguments):
        """The same, without waiting for it."""
        return subprocess.Popen(
            [HOLD, *arguments],
            cwd=self.repo,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def json(self, *arguments):
        done = self.hold(*arguments, "--json")
        return json.loads(done.stdout)

    def run(self, rows, *options, prompt="please"):
        return self.hold("run", "--model", self.script(rows), *options, prompt)

    def detached(self, rows, *options):
        made = self.run(rows, "--detach", "--json", *options)
        assert made.returncode == 0, made.stderr
        return json.loads(made.stdout)["id"]

    def session(self, id):
        return self.json("show", id)

    def at_work(self, id):
        """Once it is streaming: text is in the journal's log only when it is safe."""
        return until(lambda: "round_started" in self.hold("logs", id, "--json").stdout, "a round")

    def stopped(self, id):
        return until(lambda: (s := self.session(id))["run"] is None and s, "the end of the run")

    # --- the daemon -------------------------------------------------------------------------------

    @property
    def pid(self):
        return json.loads((self.home / "daemon.json").read_text())["pid"]

    def kill_daemon(self, number=signal.SIGKILL):
        pid = self.pid
        os.kill(pid, number)
        until(lambda: not alive(pid), "the end of the daemon")

    def clean_up(self):
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            self.hold("down")
            pid = self.pid
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


def alive(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in "ZX"
