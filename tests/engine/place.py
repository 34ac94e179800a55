"""A journal, a world, and engines that come and go: what the crash machine and its stories share."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from holdfast.core import effects as f
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.core.ids import SessionId
from holdfast.core.session import Session, StopReason
from holdfast.engine.engine import LEASE, Engine, Outcome
from holdfast.engine.outbox import Outbox
from holdfast.engine.recovery import recover, renew_once
from holdfast.journal.sqlite_store import SqliteStore
from holdfast.ports import Fenced, Held
from holdfast.testing.clock import FakeClock
from tests.engine import laws
from tests.engine.direct import DirectJournal, Life
from tests.engine.processes import Adapters, Kind, World

S = SessionId("00000000000a")
SHM = "/dev/shm" if Path("/dev/shm").is_dir() else None
PATIENCE = 100  # steps in which a run must have come to its end once faults are off


class Place:
    """A journal, a world, and the engines that come and go."""

    def __init__(self, kind: Kind, *, inline: bool, blind: bool, git: bool) -> None:
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-crash-", dir=SHM))
        self.path = self.folder / "journal.db"
        self.git = git
        self.clock = FakeClock()
        self.dead: set[str] = set()
        self.lives: list[Life] = []
        self.journals: list[DirectJournal] = []
        self.stale: Life | None = None
        self.acknowledged: set[str] = set()
        self.shown = 0
        self.generation = 0
        self.world = World(kind, inline=inline, blind=blind)
        self.run(self.boot())
        self.reader = SqliteStore(self.path)

    def run(self, work):
        return self.loop.run_until_complete(work)

    @property
    def life(self) -> Life:
        return self.lives[-1]

    async def boot(self, fuse: int | None = None) -> None:
        """Another engine, under another name, on the same journal. It may die while it recovers."""
        life = Life(f"owner-{len(self.lives)}")
        journal = DirectJournal(self.path, life, self.dead)
        await journal.open()
        ports = Adapters(self.world, life)
        life.engine = Engine(
            journal=journal, clock=self.clock, agents=ports, workspaces=ports, owner=life.owner
        )
        life.outbox = Outbox(life.engine, ports)
        life.outbox.start()
        self.lives.append(life)
        self.journals.append(journal)
        self.world.adopt(life)
        life.fuse = fuse
        task = life.spawn(recover(life.engine, life.outbox))
        await self.rest()
        if task.done() and not task.cancelled():
            task.result()
        await self.mourn()

    async def rest(self) -> None:
        """Until nobody has anything to do but wait."""
        for _ in range(20_000):
            await asyncio.sleep(0)
            if not self.loop._ready:
                return
        raise AssertionError("it does not come to rest")

    async def mourn(self, then: int | None = None) -> None:
        """If the power went, the next engine comes up (and may die as well)."""
        self.life.fuse = None
        if self.life.dead:
            self.dead.add(self.life.owner)
            await self.life.bury()
            await self.boot(then)

    async def submit(self, *inputs: i.Input, fuse: int | None, then: int | None = None):
        """All at once, to the newest engine. What came of each; None where the power went."""
        self.life.fuse = fuse
        tasks = [self.life.spawn(self.life.engine.submit(S, given)) for given in inputs]
        await self.rest()
        results = []
        for given, task in zip(inputs, tasks, strict=True):
            failure = None if task.cancelled() or not task.done() else task.exception()
            if failure is not None and not isinstance(failure, Refused | Held | Fenced):
                raise failure
            outcome = task.result() if task.done() and not failure else None
            results.append(outcome)
            self._note(given, outcome)
        await self.mourn(then)
        return results

    def _note(self, given: i.Input, outcome: Outcome | None) -> None:
        if outcome is None:
            return
        self.shown = max(self.shown, outcome.session.seq)
        if isinstance(given, i.SendPrompt):
            self.acknowledged.add(given.input)

    async def work(self, count: int, *, fuse: int | None = None, then: int | None = None) -> None:
        """Agents get so many words in."""
        self.life.fuse = fuse
        for _ in range(count):
            self.world.permits.release()
        await self.rest()
        while not self.world.permits.locked():  # what nobody needed is not saved up
            await self.world.permits.acquire()
        await self.mourn(then)

    async def advance(self, millis: int, fuse: int | None = None) -> None:
        self.life.fuse = fuse
        await self.clock.advance(millis)
        await self.rest()
        await self.mourn()

    async def take_over(self) -> None:
        """The engine stands still for longer than its lease, in the middle of whatever it does."""
        self.stale = self.life
        self.stale.freeze()
        await self.clock.advance(LEASE + 1)
        await self.boot()

    async def thaw(self) -> None:
        """It wakes up and goes on as if nothing had happened. Then it is gone."""
        stale, self.stale = self.stale, None
        await renew_once(self.life.engine)
        task = stale.spawn(stale.engine.submit(S, i.RenameSession(title=stale.owner)))
        held = self.life.engine.sessions.get(S)
        owned = held is not None and held.lease is not None
        stale.thaw()
        await self.rest()
        failure = task.exception() if task.done() else None
        assert not owned or isinstance(failure, Fenced | Held), failure
        self.dead.add(stale.owner)
        await stale.bury()
        for p in self.world.processes:
            if p.life is stale:
                self.world.vanish(p)
        await self.rest()

    def stored(self) -> tuple[list[e.Event], Session]:
        return laws.replay(self.reader, S)

    def owed(self) -> bool:
        """Timers wait apart."""
        return any(not isinstance(o.effect, f.WakeSession) for o in self.reader.owed(S))

    def quiet(self) -> bool:
        workers = self.life.outbox._workers or self.life.tasks
        return not (self.owed() or self.world.unsaid or workers or self.stale)

    def check(self) -> None:
        events, session = self.stored()
        live = self.life.engine.sessions.get(S)
        if live is not None and live.lease is not None:
            assert live.session == session
        assert self.shown <= session.seq
        if events:
            laws.the_list_agrees(self.reader, session)
        laws.one_run_at_a_time(events)
        laws.a_stopped_session_says_why(session)
        laws.inputs_are_there_once(events, session, self.acknowledged)
        laws.questions_survive(events, session)
        laws.effects_happen_once_per_decision(events, self.world)
        laws.one_process_at_a_time(self.world)
        self._generations()
        if self.quiet():
            laws.belief_equals_world(session, self.world)

    def _generations(self) -> None:
        row = self.reader.row(S)
        generation = row.generation if row else 0
        assert generation >= self.generation
        self.generation = generation
        given = [lease for journal in self.journals for lease in journal.leases]
        assert len({generation for generation, _ in given}) == len(given)

    async def converge(self) -> Session:
        """With faults off: everything that is under way comes to an end in bounded steps (P5)."""
        self.world.failures = 0
        for _ in range(PATIENCE * (2 + len(self.stored()[1].queue))):
            self.world.permits.release()
            await self.rest()
            _, session = self.stored()
            if session.decisions and session.run is not None:
                answer = i.AnswerDecision(decision=session.decisions[0].id, answer="yes")
                await self.submit(answer, fuse=None)
            if not session.taken and self.quiet():
                return session
            if (self.owed() or self.life.outbox._workers) and not self.world.unsaid:
                await self.advance(60_000)
        under_way = (self.reader.owed(S), self.world.unsaid, self.life.outbox._workers)
        raise AssertionError(f"it does not converge: {under_way}, {self.stored()[1]}")

    async def end(self) -> None:
        if self.stale is not None:
            await self.thaw()
        session = await self.converge()
        self.check()
        if session.runs and not session.terminal:
            self.world.reason = StopReason.COMPLETED
            while session.run is None and (session.queue or _unfinished(session)):
                await self.submit(i.ContinueRun(), fuse=None)
                session = await self.converge()
                self.check()

    async def close(self) -> None:
        for life in self.lives:
            await life.bury()
        await self.world.stop()
        for journal in self.journals:
            await journal.close()

    def remove(self) -> None:
        self.run(self.close())
        self.reader.close()
        self.loop.close()
        shutil.rmtree(self.folder)


def _unfinished(session: Session) -> bool:
    return session.last_stop is None or session.last_stop.reason is not StopReason.COMPLETED
