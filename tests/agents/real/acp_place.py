"""Where a real agent is run over ACP: a machine of its own, its scripted model, its processes."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from holdfast.wire import Created, NewSession
from tests.agents.machine import Machine
from tests.agents.real.test_real import AGENTS, REAL

PROGRAMS = {"claude": "claude-agent-acp", "codex": "codex-acp"}  # adapters; others do it themselves
MINUTES = 170.0  # seconds: Gemini may wait for the next minute, and start twice
QUIET = 15  # seconds of silence until that is said
WRITERS = {
    "claude": ("Write", "file_path"),
    "gemini": ("write_file", "file_path"),
    "opencode": ("write", "filePath"),
    "qwen": ("write_file", "file_path"),
}


def version(program: str) -> str:
    """As its package says: not every adapter has a flag for it."""
    for folder in Path(program).resolve().parents:
        if (folder / "package.json").exists():
            return str(json.loads((folder / "package.json").read_text())["version"])
    return ""


def program_of(agent: str) -> str:
    if not os.environ.get(REAL):
        pytest.skip("run by make agents")
    found = shutil.which(PROGRAMS.get(agent, agent))
    if found is None:
        pytest.skip(f"{agent} is not installed")
    return found


class Place(Machine):
    """A machine whose agents are run over ACP."""

    def __init__(self, folder: Path, url: str, *agents: str) -> None:
        environ: dict[str, str] = {}
        for agent in agents:
            environ |= AGENTS[agent](url, folder) if agent in AGENTS else {}
        super().__init__(folder, environ, f"quiet_after = {QUIET}\n")

    def begin(self, agent: str, prompt: str, **how) -> str:
        wanted = {"mode": "full", "via": "acp", "folder": str(self.repo), "prompt": prompt} | how
        return self.client.post("/api/sessions", NewSession(agent=agent, **wanted), Created).id

    def until(self, true, seconds: float = MINUTES):
        return super().until(true, seconds)

    def again(self) -> None:
        """Down and up, in good order: every agent has to be started again."""
        self.hold("down")
        self.up()

    def answer(self, id: str, given: str) -> str:
        """Waits for a question; what was asked."""
        (asked,) = self.until(lambda: self.session(id).pending)
        body = {"decision": asked.id, "answer": given}
        self.client.post(f"/api/sessions/{id}/decisions", body, dict)
        return asked.text

    def processes(self, id: str) -> list[int]:
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if f"HOLDFAST_COOKIE={id}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def kill_agent(self, id: str) -> None:
        """The process that the daemon started, and only it."""
        daemon = json.loads((self.home / "daemon.json").read_text())["pid"]
        (pid,) = [p for p in self.processes(id) if parent(p) == daemon]
        os.kill(pid, signal.SIGKILL)

    def forget(self, token: str) -> None:
        """What the agent itself keeps of a conversation is gone."""
        for found in self.folder.rglob(f"*{token[-12:]}*"):
            if self.home not in found.parents and found.is_file():
                found.unlink()
            elif self.home not in found.parents:
                shutil.rmtree(found)
        for gemini in self.folder.glob(f".gemini/tmp/*/chats/*{token[:8]}*"):
            gemini.unlink()
        for codex in self.folder.glob("codex/*.sqlite*"):  # more than its rollouts
            codex.unlink()
        for database in self.folder.rglob("opencode.db"):
            with contextlib.closing(sqlite3.connect(database)) as opened, opened:
                opened.execute("DELETE FROM session WHERE id = ?", [token])

    def notices(self, id: str) -> str:
        return "\n".join(event.data["text"] for event in self.events(id, "notice"))


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
