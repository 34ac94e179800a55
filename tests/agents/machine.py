"""A real daemon with a state folder and a repository of its own, for agents that are programs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from holdfast.client import ApiError, Client
from holdfast.views.document import SessionOut
from holdfast.wire import Created, EventsOut, LimitsIn, NewSession, PlanOut, RunOut
from tests.agents.builtin.house import repository

PATIENCE = 90.0


class Machine:
    """`environ` is what the daemon, and so its agents, may know besides."""

    def __init__(self, folder: Path, environ: dict[str, str], config: str = "") -> None:
        folder.chmod(0o700)
        self.folder, self.home, self.repo = folder, folder / "home", folder / "repo"
        self.home.mkdir(mode=0o700)
        (self.home / "config.toml").write_text(config)
        repository(self.repo)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        self.environ = {**kept, "HOLDFAST_HOME": str(self.home), "HOME": str(folder), **environ}
        self.client = Client(self.home)

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        self.hold("down", ok=False)
        with contextlib.suppress(AssertionError):
            self.until(lambda: not self.client.answers())

    def hold(self, *args: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "holdfast", *args]
        done = subprocess.run(
            command,
            env=self.environ,
            cwd=self.repo,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert not ok or done.returncode == 0, (args, done.stdout, done.stderr)
        return done

    def up(self) -> None:
        self.hold("up", "--no-open", "--port", "0")

    def kill(self) -> None:
        pid = json.loads((self.home / "daemon.json").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        self.until(lambda: not self.client.answers())

    # --- sessions -----------------------------------------------------------------------------------

    def begin(self, agent: str, prompt: str, *, limits=None, **how) -> str:
        how = {"mode": "full", "via": "oneshot", "limits": LimitsIn(**(limits or {})), **how}
        wanted = NewSession(folder=str(self.repo), prompt=prompt, agent=agent, **how)
        return self.client.post("/api/sessions", wanted, Created).id

    def run(self, agent: str, prompt: str, **how) -> SessionOut:
        return self.stopped(self.begin(agent, prompt, **how))

    def send(self, id: str, text: str) -> SessionOut:
        runs = self.runs(id)
        self.client.post(f"/api/sessions/{id}/prompt", {"text": text}, dict)
        return self.stopped(id, runs + 1)

    def resume(self, id: str, **how) -> RunOut:
        return self.client.post(f"/api/sessions/{id}/resume", how, RunOut)

    def resumed(self, id: str, **how) -> SessionOut:
        runs = self.runs(id)
        self.resume(id, **how)
        return self.stopped(id, runs + 1)

    def plan(self, id: str) -> PlanOut:
        return self.client.get(f"/api/sessions/{id}/plan", PlanOut)

    def status(self, id: str) -> dict:
        return self.client.get(f"/api/sessions/{id}/status", dict)

    def session(self, id: str) -> SessionOut:
        return self.client.get(f"/api/sessions/{id}", SessionOut)

    def events(self, id: str, *types: str):
        events = self.client.get(f"/api/sessions/{id}/events?after=0", EventsOut).events
        return [event for event in events if not types or event.type in types]

    def runs(self, id: str) -> int:
        return len(self.events(id, "run_started"))

    def said(self, id: str) -> str:
        return "".join(event.data["text"] for event in self.events(id, "text_saved"))

    def saying(self, id: str) -> str:
        """Of the response that is coming: it has no place in history yet."""
        try:
            where = self.client.get(f"/api/sessions/{id}/checkpoint", dict)
        except ApiError:  # nothing to come back to yet
            return ""
        return (where.get("checkpoint") or where).get("accumulated") or ""

    def stopped(self, id: str, runs: int = 1) -> SessionOut:
        self.until(lambda: len(self.events(id, "run_stopped")) >= runs)
        return self.session(id)

    # --- the world ------------------------------------------------------------------------------------

    def carriers(self, id: str) -> list[str]:
        """The command lines of whatever belongs to this session and lives."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and f"HOLDFAST_COOKIE={id}".encode() in (
                    (folder / "environ").read_bytes()
                ):
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        return [line for line in found if line]

    def until(self, true, seconds: float = PATIENCE):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = true()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(
            "it never came to that: " + (self.home / "daemon.log").read_text()[-900:]
        )
