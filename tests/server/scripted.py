"""A whole system with a scripted agent, for the daemon's tests: `python -m tests.server.scripted`.

The agent dies with the process, as the built-in one does. While `<home>/hold` exists, its calls do not
finish: that is how a test keeps a run going.
"""

import argparse
import asyncio
import os
import secrets
import sys
from pathlib import Path

from holdfast.config import load
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.ids import SessionId
from holdfast.core.session import EffectClass, StopReason
from holdfast.core.truth import Workspace
from holdfast.daemon import NoStart, Wanted, serve
from holdfast.engine.clock import SystemClock
from holdfast.engine.elsewhere import listen
from holdfast.engine.engine import Engine
from holdfast.engine.outbox import Outbox
from holdfast.engine.recovery import recover, watch
from holdfast.journal.owner import this_owner
from holdfast.journal.postgres import PostgresJournal
from holdfast.journal.sqlite import SqliteJournal
from holdfast.server.desk import Opened, Unfit
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.script import Reply, ScriptedCall
from holdfast.testing.world import FileWorld
from holdfast.views.choices import AgentsOut, ModelsOut
from holdfast.wire import limits
from holdfast.workspaces.harvest import GitWork

SCRIPTS = {
    "plain": (
        Reply(
            text="I will look around first. " * 4,
            pieces=3,
            calls=(ScriptedCall(effect=EffectClass.UNSAFE),),
        ),
        Reply(text="Done."),
    ),
    "asking": (
        Reply(text="May I?", calls=(ScriptedCall(asks="Run make?"),)),
        Reply(text="Done."),
    ),
    "limited": (
        Reply(text="Half way.", calls=(ScriptedCall(),), stop=StopReason.TOOL_LIMIT),
        Reply(text="Done."),
    ),
    "failing": (Reply(text="Oh.", stop=StopReason.ERROR),),
}


class HeldWorld(FileWorld):
    async def effect(self, session, call, attempt):
        await super().effect(session, call, attempt)
        while (self.folder / "hold").exists():
            await asyncio.sleep(0.01)


class NoChoices:
    """Nothing to choose from: its agent is scripted."""

    async def agents(self):
        return AgentsOut(agents=(), usual="scripted")

    async def models(self):
        return ModelsOut(models=())

    async def window(self, session):
        return None

    async def price(self, session, tokens):
        return None


class ScriptedSystem:
    def __init__(self, home, config, script="plain", store=None):
        self.store = str(home / "journal.db")
        self._journal = PostgresJournal(*store) if store else SqliteJournal(home / "journal.db")
        self._world = HeldWorld(home)
        self._agents = ScriptedAgents(SCRIPTS[script], self._world)
        self.engine = Engine(
            journal=self._journal,
            clock=SystemClock(),
            agents=self._agents,
            workspaces=self._world,
            owner=this_owner(),
        )
        self._outbox = Outbox(self.engine, self._world)
        self._agents.submit = self._world.submit = self.engine.submit
        self.work = GitWork()
        self.choices = NoChoices()
        self.opening, self.lent = self, {}

    async def start(self):
        await self._journal.open()
        self._outbox.start()
        await recover(self.engine, self._outbox)
        self._watching = [
            asyncio.create_task(watch(self.engine, self._outbox)),
            asyncio.create_task(listen(self.engine)),
        ]

    async def stop(self):
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        await self._outbox.stop()
        await self._agents.stop()
        await self._journal.close()

    async def told_otherwise(self, session, given):
        return None

    async def create(self, wanted):
        folder = Path(wanted.folder)
        if not folder.is_dir():
            raise Unfit(f"{folder} is not a folder.", "Go to one that is there.")
        id = SessionId(secrets.token_hex(6))
        opened = i.OpenSession(
            agent=wanted.agent or "scripted",
            via="scripted",
            model=wanted.model or "",
            title=wanted.title or (wanted.prompt or "")[:60],
            mode=wanted.mode or "edits",
            limits=limits(wanted.limits, Limits()),
            workspace=Workspace(id="w", path=str(folder), branch="main"),
        )
        await self.engine.submit(id, opened)
        return Opened(id=id, notes=("2 uncommitted changes are not in it.",))

    async def check_free(self, folder, *, but=None):
        """All of them work in one folder here, at once."""

    def lend(self, session, environ):
        self.lent[session] = dict(environ)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--script", default="plain")
    parser.add_argument("--store", nargs=2, help="a PostgreSQL address and a schema there")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--allow-host", action="append", default=[])
    given = parser.parse_args()
    config = load({**os.environ, "HOLDFAST_HOME": str(given.home)})
    wanted = Wanted(port=given.port, allow_hosts=tuple(given.allow_host))
    try:
        serve(
            config,
            wanted,
            lambda home, config: ScriptedSystem(home, config, given.script, given.store),
        )
    except NoStart as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
