"""An engine over a real store, with real scripted agents; a throw-away workspace that always answers."""

import asyncio
import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Self

from holdfast.agents.acp.agents import AcpAgents
from holdfast.agents.acp.profile import AcpProfile, McpServer, Waits
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.conversation import build
from holdfast.core.ids import InputId, SessionId
from holdfast.core.messages import AssistantMessage, UserMessage
from holdfast.core.session import Session
from holdfast.core.truth import Workspace
from holdfast.engine.clock import SystemClock
from holdfast.engine.engine import Engine
from holdfast.engine.outbox import Outbox
from holdfast.engine.recovery import recover
from holdfast.journal.owner import this_owner
from holdfast.journal.sqlite import SqliteJournal
from holdfast.runtimes.piped import end_of, start
from holdfast.runtimes.processes import carrying
from holdfast.testing.world import FileWorld

ID = SessionId(f"ac{os.getpid():010x}")  # its processes are looked for by it on the whole machine
PATIENCE = 60.0
WAITS = Waits(ready=PATIENCE, cancel=1, quiet=60, replay=0.1)
YES_NO = [["yes", "allow_once"], ["no", "reject_once"]]


def text(*words: str) -> list[dict]:
    return [{"text": word} for word in words]


class Rig:
    def __init__(self, folder: Path, *, mode="edits", waits=WAITS, command=None, **script) -> None:
        self.folder, self.mode, self.waits = folder, mode, waits
        self.script = folder / "script.json"
        self.servers: tuple[McpServer, ...] = ()
        self.model = ""
        self.modes: dict[str, str] = {}
        self.habits: dict = {}  # what else its profile says
        self.command = command or (
            sys.executable,
            "-m",
            "holdfast.testing.acp_agent",
            str(self.script),
        )
        self.write(**script)
        self._inputs = 0

    def write(self, **script) -> None:
        self.script.write_text(json.dumps(script))

    async def __aenter__(self) -> Self:
        self.journal = SqliteJournal(self.folder / "journal.db")
        await self.journal.open()
        world = FileWorld(self.folder)
        clock = SystemClock()
        self.agents = AcpAgents(
            journal=self.journal,
            clock=clock,
            profiles=self._profile,
            start=start,
            end_of=end_of,
            servers=self.servers,
            waits=self.waits,
        )
        self.engine = Engine(
            journal=self.journal,
            clock=clock,
            agents=self.agents,
            workspaces=world,
            owner=this_owner(),
        )
        self.agents.submit = world.submit = self.engine.submit
        self.outbox = Outbox(self.engine, world)
        self.outbox.start()
        self.found = await recover(self.engine, self.outbox)
        if (await self.engine.session(ID)).opened:
            return self
        place = Workspace(id="w", path=str(self.folder), git=False)
        opened = i.OpenSession(
            agent="scripted", via="acp", mode=self.mode, workspace=place, model=self.model
        )
        await self.engine.submit(ID, opened)
        return self

    def _profile(self, _session: Session) -> AcpProfile:
        return AcpProfile(
            command=self.command, environ=dict(os.environ), modes=self.modes, **self.habits
        )

    async def __aexit__(self, *_: object) -> None:
        """As a daemon that goes down in order."""
        if ID in self.engine.sessions:
            await self.engine.submit(ID, i.OwnerLost(stopping=True))
        await self.agents.stop()
        await self.outbox.stop()
        await self.engine.leave()
        await self.journal.close()
        assert [] == carrying(ID), "an agent was left behind"

    # --- doing ----------------------------------------------------------------------------------------

    async def do(self, given: i.Input) -> Session:
        return (await self.engine.submit(ID, given)).session

    async def send(self, words: str = "go", limits: Limits | None = None) -> None:
        self._inputs += 1
        input = InputId(f"i{time.monotonic_ns()}")
        await self.do(i.SendPrompt(input=input, text=words, limits=limits))

    async def until(self, true, seconds: float = PATIENCE) -> Session:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            session = await self.engine.session(ID)
            if true(session):
                return session
            await asyncio.sleep(0.005)
        raise AssertionError(f"it never came to that: {session}")

    async def stopped(self) -> Session:
        session = await self.until(lambda s: s.run is None and s.last_stop is not None)
        await self.quiet()
        return session

    async def run(self, words: str = "go") -> Session:
        await self.send(words)
        await self.until(lambda s: s.run is not None or s.terminal)
        return await self.stopped()

    async def quiet(self) -> None:
        await asyncio.wait_for(self.outbox.idle(), PATIENCE)

    # --- looking --------------------------------------------------------------------------------------

    async def events(self, *kinds: type) -> list:
        found = await self.journal.events(ID)
        return [event for event in found if not kinds or isinstance(event, kinds)]

    async def until_event(self, kind: type, count: int = 1) -> list:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = await self.events(kind)
            if len(found) >= count:
                return found
            await asyncio.sleep(0.005)
        raise AssertionError(f"no {kind.__name__} came")

    async def notices(self) -> list[str]:
        return [event.text for event in await self.events(e.Notice)]

    async def said(self) -> list[str]:
        """What the agent said, message by message."""
        messages = build(await self.events()).messages()
        return [m.text for m in messages if isinstance(m, AssistantMessage) and m.text]

    async def told(self) -> list[str]:
        messages = build(await self.events()).messages()
        return [m.text or m.briefing or "" for m in messages if isinstance(m, UserMessage)]

    def asked(self, method: str | None = None) -> list[dict]:
        """What the agent was asked, over all its lives."""
        file = Path(f"{self.script}.store") / "asked"
        lines = file.read_text().splitlines() if file.exists() else []
        rows = [json.loads(line) for line in lines]
        return [row for row in rows if method in (None, row["method"])]

    def prompts(self) -> list[str]:
        return [row["params"]["prompt"][0]["text"] for row in self.asked("session/prompt")]

    def pids(self) -> set[int]:
        return {row["pid"] for row in self.asked()}


@contextlib.asynccontextmanager
async def rig(folder: Path, **script):
    async with Rig(folder, **script) as opened:
        yield opened
