"""A whole system in a throw-away home, over a real repository, with a scripted model."""

import asyncio
import contextlib
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Self

from holdfast import config
from holdfast.assembly import System
from holdfast.core import inputs as i
from holdfast.core.ids import InputId, SessionId
from holdfast.core.session import Session
from holdfast.engine.clock import SystemClock
from holdfast.wire import NewSession

SOMEBODY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"} | {
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def repository(path: Path) -> Path:
    path.mkdir()
    _git(path, "init", "-q", "-b", "main")
    (path / "hello.txt").write_text("hello\n")
    _git(path, "add", ".")
    _git(path, "commit", "-qm", "first")
    return path


def _git(path: Path, *args: str) -> None:
    env = {**os.environ, **SOMEBODY, "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run(["git", *args], cwd=path, env=env, check=True, capture_output=True)


class House:
    """`script` is a list of rows; each is what a line of the script says."""

    def __init__(self, folder: Path, *script: dict, clock=None, **settings: object) -> None:
        self.folder = folder
        self._clock = clock or SystemClock()
        self._environ = {f"HOLDFAST_{name.upper()}": str(v) for name, v in settings.items()}
        self.home = folder / "home"
        if not self.home.exists():
            self.home.mkdir(mode=0o700)
            repository(folder / "repo")
        self.script = folder / "script.jsonl"
        if script:
            self.script.write_text("".join(f"{json.dumps(row)}\n" for row in script))
        self._inputs = 0

    async def __aenter__(self) -> Self:
        environ = {**self._environ, "HOLDFAST_HOME": str(self.home)}
        self.system = System(self.home, config.load(environ), clock=self._clock)
        await self.system.start()
        self.engine = self.system.engine
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.system.stop()

    async def open(self, **changes: object) -> SessionId:
        wanted = {"folder": str(self.folder / "repo"), "model": f"scripted:{self.script}"}
        made = await self.system.opening.create(NewSession(**{**wanted, "mode": "full", **changes}))
        return made.id

    async def send(self, id: SessionId, text: str = "go", **changes: object) -> None:
        self._inputs += 1
        prompt = i.SendPrompt(input=InputId(f"i{self._inputs}"), text=text, **changes)
        await self.engine.submit(id, prompt)

    async def until(self, id: SessionId, true, seconds: float = 60) -> Session:
        """Polls; a run that never gets there is a failure."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            session = await self.engine.session(id)
            if true(session):
                return session
            await asyncio.sleep(0.01)
        raise AssertionError(f"it never came to that: {session}")

    async def stopped(self, id: SessionId) -> Session:
        return await self.until(id, lambda s: s.run is None and s.last_stop is not None)

    async def run(self, **changes: object) -> Session:
        """One prompt, to its stop."""
        id = await self.open(**changes)
        await self.send(id)
        return await self.stopped(id)

    async def events(self, id: SessionId, kind: type) -> list:
        return [x for x in await self.engine.journal.events(id) if isinstance(x, kind)]


@contextlib.asynccontextmanager
async def house(folder: Path, *script: dict, **more: object):
    async with House(folder, *script, **more) as opened:
        yield opened


def call(name: str, **arguments: object) -> dict:
    return {"name": name, "input": arguments}
