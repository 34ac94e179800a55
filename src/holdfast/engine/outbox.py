"""Pays what is owed: in order within a session, sessions side by side, never forgetting one.

An errand is settled only after it was performed. If the process dies in between it is performed
again; adapters recognise it by its id. A debt that makes no sense any more (core/react.py says so)
is settled unperformed. One that fails is put off, and the ones behind it wait: their order is part of
what was decided. Timers wait apart: they hold up nobody.
"""

import asyncio
import heapq
import logging
from functools import partial

from holdfast.core.effects import WakeSession
from holdfast.core.ids import Millis, SessionId
from holdfast.core.inputs import TimerDue
from holdfast.core.react import still_owed
from holdfast.core.session import Session
from holdfast.core.value import replace
from holdfast.engine.engine import Engine
from holdfast.engine.forking import make_fork
from holdfast.engine.perform import performers
from holdfast.engine.trash import erase
from holdfast.ports import Errand, JournalError, Notifier

LOG = logging.getLogger(__name__)
FIRST_WAIT, LONGEST_WAIT = 500, 60_000  # ms between tries


class Outbox:
    def __init__(self, engine: Engine, notifier: Notifier) -> None:
        self._engine = engine
        self._perform = performers(
            engine.agents,
            engine.workspaces,
            notifier,
            wake=self._wake,
            fork=partial(make_fork, engine),
            erase=partial(erase, engine),
        )
        self._workers: dict[SessionId, asyncio.Task[None]] = {}
        self._timers: list[tuple[Millis, str, Errand]] = []
        self._timed: set[str] = set()
        self._sooner = asyncio.Event()
        self._clockwork: asyncio.Task[None] | None = None
        engine.on_owed = self.wake

    def start(self) -> None:
        self._clockwork = asyncio.create_task(self._tick())

    async def stop(self) -> None:
        tasks = [*self._workers.values(), *([self._clockwork] if self._clockwork else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def wake(self, id: SessionId) -> None:
        if id not in self._workers:
            self._workers[id] = asyncio.create_task(self._pay(id))

    async def idle(self) -> None:
        """Returns when nothing is being paid: for tests and for going down in order."""
        while self._workers:
            await asyncio.wait(self._workers.values())

    async def _pay(self, id: SessionId) -> None:
        """Nothing may be waited for between the last look and going home: a debt that comes in
        between would find a worker that no longer looks."""
        try:
            while (live := self._engine.sessions.get(id)) is not None and live.lease and live.owed:
                errand = live.owed[0]
                if isinstance(errand.effect, WakeSession):
                    self.remember(errand)
                elif (again := await self._pay_one(errand)) is not None:
                    live.owed = [again if o.id == errand.id else o for o in live.owed]
                    await self._engine.clock.sleep_until(again.due)
                    continue
                live.owed = [o for o in live.owed if o.id != errand.id]
                if not live.owed:
                    await self._engine.relax(id)
        finally:
            del self._workers[id]

    async def _pay_one(self, errand: Errand) -> Errand | None:
        """None: paid. Otherwise the errand as it is to be tried again."""
        try:
            session = await self._engine.session(errand.session)
            if still_owed(session, errand.effect):
                await self._perform[type(errand.effect)](errand, session)
            await self._engine.journal.settle(errand)
        except JournalError as error:
            LOG.warning("errand %s: the journal failed: %s", errand.id, error)
            return await self._put_off(errand, FIRST_WAIT)
        except Exception:
            LOG.exception("errand %s failed", errand.id)
            wait = FIRST_WAIT << min(errand.attempts, 10)
            return await self._put_off(errand, min(wait, LONGEST_WAIT))
        return None

    async def _put_off(self, errand: Errand, wait: int) -> Errand:
        due = Millis(self._engine.clock.now() + wait)
        try:
            await self._engine.journal.postpone(errand, due=due)
        except JournalError as error:
            LOG.warning("errand %s could not be put off: %s", errand.id, error)
        return replace(errand, due=due, attempts=errand.attempts + 1)

    # --- timers -----------------------------------------------------------------------------------

    def remember(self, errand: Errand) -> None:
        """Fired when it is due. Said again, it is the same timer."""
        if errand.id not in self._timed:
            self._timed.add(errand.id)
            heapq.heappush(self._timers, (errand.due, errand.id, errand))
            self._sooner.set()

    async def _tick(self) -> None:
        """Fires what is due, once; what fell due while we were away fires now, one after another."""
        while True:
            self._sooner.clear()
            if not self._timers:
                await self._sooner.wait()
                continue
            due, _, errand = self._timers[0]
            if due > self._engine.clock.now():
                await self._until(due)
                continue
            heapq.heappop(self._timers)
            self._timed.discard(errand.id)
            again = await self._pay_one(errand)
            if again is not None:
                self.remember(again)

    async def _until(self, due: Millis) -> None:
        nap = asyncio.ensure_future(self._engine.clock.sleep_until(due))
        called = asyncio.ensure_future(self._sooner.wait())
        try:
            await asyncio.wait({nap, called}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            nap.cancel()
            called.cancel()

    async def _wake(self, errand: Errand, _session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, WakeSession)
        await self._engine.submit(errand.session, TimerDue(timer=effect.timer))
