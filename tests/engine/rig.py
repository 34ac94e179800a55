"""What a story about the engine needs: a real journal, a clock that obeys, a scripted world."""

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Self

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.effects import WakeSession
from holdfast.core.evolve import rebuild
from holdfast.core.ids import InputId, SessionId
from holdfast.core.session import Session
from holdfast.core.truth import Workspace
from holdfast.engine.engine import Engine, Outcome
from holdfast.engine.outbox import Outbox
from holdfast.engine.recovery import Mender
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports import Batch, Journal
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.clock import FakeClock
from holdfast.testing.script import Reply, Script, ScriptedCall
from holdfast.testing.world import FileWorld

S = SessionId("00000000000a")
T = SessionId("00000000000b")
OPEN = i.OpenSession(agent="scripted", workspace=Workspace(id="w", path="/w", git=False))
DONE: Script = (Reply(text="Done."),)
ONE_CALL: Script = (Reply(text="Look.", calls=(ScriptedCall(),)), Reply(text="Done."))
ASKS: Script = (Reply(text="May I?", calls=(ScriptedCall(asks="Run make?"),)), Reply(text="Done."))


def prompt(id: str = "p1", text: str = "please") -> i.SendPrompt:
    return i.SendPrompt(input=InputId(id), text=text)


@contextlib.contextmanager
def state_folder() -> Iterator[Path]:
    """In memory where there is such a place. Mode 700, as mkdtemp makes it."""
    where = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="holdfast-engine-", dir=where) as name:
        yield Path(name)


def story(tell: Callable[[Path], Awaitable[None]]) -> Callable[[], None]:
    """A test that is a coroutine over a state folder of its own."""

    def test() -> None:
        with state_folder() as folder:
            asyncio.run(asyncio.wait_for(tell(folder), 200))

    test.__name__, test.__doc__ = tell.__name__, tell.__doc__
    return test


async def until(condition: Callable[[], Any], *, seconds: float = 60) -> None:
    """Polls. What takes longer than this never comes."""
    async with asyncio.timeout(seconds):
        while True:
            found = condition()
            if await found if asyncio.iscoroutine(found) else found:
                return
            await asyncio.sleep(0.001)


class Wrapped:
    """A journal with something in front of it. What is not overridden goes straight through."""

    def __init__(self, journal: Journal) -> None:
        self.inner = journal

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Late(Wrapped):
    """The write is done; whoever waits for it is told when the test says so."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self.written, self.told = asyncio.Event(), asyncio.Event()
        self._late: type | None = None

    def withhold(self, kind: type) -> None:
        self._late = kind

    async def append(self, batch: Batch) -> None:
        await self.inner.append(batch)
        if self._late is not None and any(isinstance(x, self._late) for x in batch.events):
            self.written.set()
            await self.told.wait()


class Rig:
    """One process's worth: an engine with everything around it."""

    def __init__(
        self,
        folder: Path,
        *,
        script: Script = DONE,
        owner: str = "one",
        clock: FakeClock | None = None,
        wrap: Callable[[Journal], Any] = lambda journal: journal,
        agents: type[ScriptedAgents] = ScriptedAgents,
        process: bool = False,
    ) -> None:
        self.journal = wrap(SqliteJournal(folder / "journal.db"))
        self.clock = clock or FakeClock()
        self.world = FileWorld(folder)
        self.agents = agents(script, self.world, process=process)
        self.engine = Engine(
            journal=self.journal,
            clock=self.clock,
            agents=self.agents,
            workspaces=self.world,
            owner=owner,
        )
        self.outbox = Outbox(self.engine, self.world)
        self.mender = Mender(self.engine)
        self.agents.submit = self.world.submit = self.engine.submit

    async def __aenter__(self) -> Self:
        await self.journal.open()
        self.outbox.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.mender.stop()
        await self.outbox.stop()
        await self.agents.stop()
        await self.journal.close()

    async def submit(self, *inputs: i.Input, id: SessionId = S) -> Outcome:
        for given in inputs:
            outcome = await self.engine.submit(id, given)
        return outcome

    async def session(self, id: SessionId = S) -> Session:
        return await self.engine.session(id)

    async def events(self, id: SessionId = S) -> list[e.Event]:
        return [r.event for r in await self.journal.read(id)]

    async def kinds(self, id: SessionId = S) -> list[str]:
        return [type(event).__name__ for event in await self.events(id)]

    async def count(self, kind: type, id: SessionId = S) -> int:
        return sum(isinstance(event, kind) for event in await self.events(id))

    async def replay(self, id: SessionId = S) -> Session:
        return rebuild(id, await self.events(id))

    async def quiet_or_asking(self, id: SessionId = S) -> Session:
        """The same, or a question is open."""
        await until(lambda: self._quiet_or_asking(id))
        return await self.session(id)

    async def _quiet_or_asking(self, id: SessionId) -> bool:
        session = await self.session(id)
        busy = id in self.outbox._workers or await self.journal.owed(id)
        return not busy and (session.run is None or bool(session.decisions))

    async def quiet(self, id: SessionId = S) -> Session:
        """When the run is over and nothing is owed but timers."""

        async def settled() -> bool:
            session = await self.session(id)
            owed = await self.journal.owed(id)
            owed = [o for o in owed if not isinstance(o.effect, WakeSession)]
            return session.run is None and not owed and id not in self.outbox._workers

        await until(settled)
        return await self.session(id)
