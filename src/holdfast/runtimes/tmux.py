"""Agents in terminals that live on without us: a tmux server of our own (SPEC H1).

Rule 1: the server is named after the state folder, and has a configuration of its own: whatever the user
has in theirs, Ctrl-Q detaches and nothing else is bound.
Rule 2: argv, never a shell line. What a program is given comes by a file (tmux_exec.py).
Rule 3: a program that has exited leaves its pane: how it ended, and its last words, can be read later.
How it ended is in a file of ours.
Rule 4: "unknown" is an answer. A tmux that does not answer is neither alive nor dead: `Unclear`.
Rule 5: the server carries no cookie, so that no sweep ends it; each program in it carries its own.
"""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.core.value import Value
from holdfast.runtimes import tmux_exec
from holdfast.runtimes.child import raise_oom_score
from holdfast.runtimes.local import scrubbed
from holdfast.runtimes.processes import COOKIE, Process, carrying, end, everyone, look, tree

PATIENCE = 10.0  # seconds for tmux to answer
WIDTH, HEIGHT = 200, 50
BEFORE = "-50"  # lines that have left the screen
LAUNCHER = str(Path(tmux_exec.__file__).resolve())
CONFIGURATION = """\
set -g prefix None
set -g prefix2 None
unbind-key -a
unbind-key -a -T root
bind-key -T root C-q detach-client
set -g history-limit 50000
set -s exit-empty off
set -g remain-on-exit on
set -gq remain-on-exit-format ""
set -g default-terminal screen-256color
set -s escape-time 10
set -s set-clipboard off
set -g update-environment ""
set -g allow-rename off
set -g destroy-unattached off
set -g window-size latest
set -g status-left ""
set -g status-right "Ctrl-Q leaves it running"
set -g status-right-length 40
set -g window-status-current-format ""
"""
NOBODY = ("no server running", "error connecting to", "no current", "server exited")
GONE = ("can't find", "no such session", *NOBODY)


class Unclear(OSError):
    """tmux did not answer, or not in a way that we understand."""


class Pane(Value):
    """A program in a terminal, or what is left of it."""

    name: str
    pid: int
    dead: bool = False
    code: int | None = None
    signal: int | None = None


class Tmux:
    def __init__(self, home: Path) -> None:
        self.folder = home / "tmux"
        name = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:12]
        self.server = f"holdfast-{name}"

    @property
    def installed(self) -> bool:
        return shutil.which("tmux") is not None

    def attach(self, name: str) -> tuple[str, ...]:
        """What a person's terminal runs to be in that one. Without TMUX and TMUX_TMPDIR."""
        return (*self._command(), "attach-session", "-t", f"={name}")

    async def launch(
        self, name: str, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], cookie: str
    ) -> Pane:
        """One that runs under this name already is left as it is."""
        there = await self.find(name)
        if there is not None:
            return there
        file = self.folder / f"{name}.json"
        self._prepare()
        given = {"argv": list(argv), "cwd": cwd, "env": {**env, COOKIE: cookie}}
        _write(file, json.dumps(given))
        ended = self.folder / f"{name}.exit"
        ended.unlink(missing_ok=True)
        start = (sys.executable, "-I", "-S", LAUNCHER, str(file), str(ended))
        size = ("-x", str(WIDTH), "-y", str(HEIGHT))
        done = await self._ask("new-session", "-d", "-s", name, *size, "-c", cwd, "--", *start)
        pane = await self.find(name)
        if done.returncode or pane is None:
            file.unlink(missing_ok=True)
            raise Unclear(f"tmux could not start it: {_said(done)}")
        raise_oom_score(pane.pid)
        return pane

    async def find(self, name: str) -> Pane | None:
        """None: there is none. `Unclear`: nobody can tell."""
        return (await self.panes()).get(name)

    async def panes(self) -> dict[str, Pane]:
        """All of ours, by name."""
        if not self.installed:
            return {}
        fields = ("session_name", "pane_pid", "pane_dead")
        wanted = "\t".join(f"#{{{field}}}" for field in fields)
        done = await self._ask("list-panes", "-a", "-F", wanted)
        if done.returncode:
            if _said(done).startswith(NOBODY):
                return {}
            raise Unclear(_said(done))
        rows = (line.split("\t") for line in done.stdout.decode("utf-8", "replace").splitlines())
        found = (self._pane(*row) for row in rows if len(row) == len(fields))
        return {pane.name: pane for pane in found}

    def ended(self, name: str, pid: int) -> bool:
        """At a glance, without asking tmux."""
        if pid <= 0 or (self.folder / f"{name}.exit").exists():
            return True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return True  # the number is a stranger's now
        return False

    async def paste(self, name: str, text: str) -> None:
        """As if a person had pasted it: a program that asked to be told so is (bracketed)."""
        buffer = f"in-{name}"
        await self._do("load-buffer", "-b", buffer, "-", input=text.encode("utf-8", "replace"))
        await self._do("paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", f"={name}:")

    async def press(self, name: str, *keys: str) -> None:
        await self._do("send-keys", "-t", f"={name}:", *keys)

    async def screen(self, name: str) -> str:
        """What it shows, and a little of what it showed before; empty: it is not there."""
        done = await self._ask("capture-pane", "-p", "-J", "-S", BEFORE, "-t", f"={name}:")
        return "" if done.returncode else done.stdout.decode("utf-8", "replace").rstrip()

    async def end(self, name: str, cookie: str) -> tuple[int, ...]:
        """All of it: the program, whoever it began, whoever carries the cookie; then its pane. Returns
        pids that would not die."""
        pane = await self.find(name)
        root = look(pane.pid) if pane is not None and not pane.dead else None
        left = await end(lambda: [*_tree(root), *carrying(cookie)], known=_tree(root))
        if pane is not None:
            done = await self._ask("kill-session", "-t", f"={name}")
            if done.returncode and not _said(done).startswith(GONE):
                raise Unclear(_said(done))
        for ending in ("json", "exit"):
            (self.folder / f"{name}.{ending}").unlink(missing_ok=True)
        return tuple(process.pid for process in left)

    async def end_all(self, prefix: str, cookie: str) -> tuple[int, ...]:
        """Every launch whose name begins so (SPEC E8)."""
        left: list[int] = []
        for name in [name for name in await self.panes() if name.startswith(prefix)]:
            left += await self.end(name, cookie)
        left += [p.pid for p in await end(lambda: carrying(cookie))]
        return tuple(left)

    async def rest(self) -> None:
        """Ends the server if nobody is in it. It does not do so by itself: whoever came just then would be
        taken with it."""
        if self.installed and not await self.panes():
            await self._ask("kill-server")

    def _pane(self, name: str, pid: str, dead: str) -> Pane:
        try:
            ended = int((self.folder / f"{name}.exit").read_text("ascii"))
        except (OSError, ValueError):
            now = look(int(pid))
            gone = dead == "1" and (now is None or now.state in "ZX")  # nobody saw how
            return Pane(name=name, pid=int(pid), dead=gone)
        code, signal = (ended, None) if ended >= 0 else (None, -ended)
        return Pane(name=name, pid=int(pid), dead=True, code=code, signal=signal)

    def _command(self) -> tuple[str, ...]:
        return ("tmux", "-u", "-L", self.server, "-f", str(self.folder / "tmux.conf"))

    def _prepare(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _write(self.folder / "tmux.conf", CONFIGURATION)

    async def _do(self, *words: str, input: bytes = b"") -> None:
        done = await self._ask(*words, input=input)
        if done.returncode:
            raise Unclear(_said(done))

    async def _ask(self, *words: str, input: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        return await asyncio.to_thread(self._run, words, input)

    def _run(self, words: Sequence[str], input: bytes) -> "subprocess.CompletedProcess[bytes]":
        try:
            return subprocess.run(  # noqa: S603  argv is ours
                [*self._command(), *words],
                input=input,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
                cwd="/",
                env=scrubbed(os.environ, {}),
            )
        except subprocess.TimeoutExpired as late:
            raise Unclear("tmux did not answer") from late


def _tree(root: Process | None) -> list[Process]:
    """Only while the pid is still the same process's."""
    now = look(root.pid) if root is not None else None
    if root is None or now is None or now.start != root.start:
        return []
    return tree(root.pid, among=everyone())


def _said(done: "subprocess.CompletedProcess[bytes]") -> str:
    return done.stderr.decode("utf-8", "replace").strip()


def _write(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
