"""After a death: who was at work, and what is owed. Bounded: histories are not read.

Only sessions that somebody was driving are looked at, each from its newest copy and the few events
after it. A living owner is never displaced: its lease, and where that can be told its process, say
whether it lives. Nothing is relaunched here; a session that was cut off waits for its user (SPEC D3).
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterable
from typing import Any, NamedTuple

from holdfast.core.effects import WakeSession
from holdfast.core.ids import Millis, SessionId
from holdfast.core.inputs import OwnerLost
from holdfast.engine.engine import Engine
from holdfast.engine.outbox import Outbox
from holdfast.ports import Damaged, Errand, Held, JournalError, Lease, Row

LOG = logging.getLogger(__name__)


class Found(NamedTuple):
    recovered: list[SessionId]
    held: list[SessionId]  # somebody else drives them, or may
    quarantined: list[SessionId]


async def recover(engine: Engine, outbox: Outbox) -> Found:
    """At the start, and now and then: owners die, and leases run out, while we are up (SPEC D1)."""
    found = Found([], [], [])
    rows = [row for row in await engine.journal.live() if not _ours(engine, row.session)]
    await _few_at_a_time(_one(engine, row, found) for row in rows)
    owing: set[SessionId] = set()
    for errand in await _readable_debts(engine, found):
        if _ours(engine, errand.session) or errand.session in found.held:
            continue
        if isinstance(errand.effect, WakeSession):
            outbox.remember(errand)  # nobody has to own a session that only waits
        else:
            owing.add(errand.session)
    owing -= set(found.quarantined)
    await _few_at_a_time(_settle_debts(engine, outbox, id, found) for id in sorted(owing))
    return found


async def _readable_debts(engine: Engine, found: Found) -> list[Errand]:
    """A debt that cannot be read puts its session aside, and only that."""
    while True:
        try:
            return await engine.journal.owed()
        except Damaged as error:
            LOG.warning("session %s is quarantined: %s", error.session, error)
            await engine.journal.quarantine(error.session, str(error))
            found.quarantined.append(error.session)


def _ours(engine: Engine, id: SessionId) -> bool:
    live = engine.sessions.get(id)
    return live is not None and live.lease is not None


async def _few_at_a_time(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Side by side, so that they share their commits; few, so that memory stays small."""
    slots = asyncio.Semaphore(64)

    async def one(item: Coroutine[Any, Any, None]) -> None:
        async with slots:
            await item

    await asyncio.gather(*(one(item) for item in work))


async def _one(engine: Engine, row: Row, found: Found) -> None:
    try:
        await engine.own(row.session)
        found.recovered.append(row.session)
    except Held:
        found.held.append(row.session)
    except Damaged as error:
        LOG.warning("session %s is quarantined: %s", row.session, error)
        await engine.journal.quarantine(row.session, str(error))
        found.quarantined.append(row.session)


async def _settle_debts(engine: Engine, outbox: Outbox, id: SessionId, found: Found) -> None:
    try:
        await engine.own(id)
        outbox.wake(id)
    except Held:
        found.held.append(id)
    except Damaged as error:
        await engine.journal.quarantine(id, str(error))
        found.quarantined.append(id)


async def watch(engine: Engine, outbox: Outbox) -> None:
    """Keeps what is ours and looks for what is nobody's. Runs for ever."""
    while True:
        await engine.clock.sleep_until(Millis(engine.clock.now() + engine.lease // 3))
        await renew_once(engine)
        try:
            await recover(engine, outbox)
        except JournalError as error:
            LOG.warning("orphans could not be looked for: %s", error)


async def renew_once(engine: Engine) -> None:
    held: list[Lease] = [live.lease for live in engine.sessions.values() if live.lease]
    if not held:
        return
    try:
        lost = await engine.journal.renew(
            engine.owner, held, now=engine.clock.now(), ttl=engine.lease
        )
    except JournalError as error:
        LOG.warning("leases could not be renewed: %s", error)
        return
    for live in [engine.sessions[id] for id in lost if id in engine.sessions]:
        if live.lease in held:  # not one that was given back and taken again in the meantime
            LOG.warning("session %s has another owner now", live.session.id)
            engine.forget(live)


async def mend(engine: Engine, id: SessionId, every: int = 1_000) -> None:
    """The store failed while this session ran: when it is back, say that the run was cut off."""
    while True:
        await engine.clock.sleep_until(Millis(engine.clock.now() + every))
        try:
            session = await engine.session(id)
            lost = OwnerLost(alive=await engine.agents.alive(session))
            session = (await engine.submit(id, lost)).session
            if session.agent_alive:
                engine.agents.rejoin(session)
        except JournalError as error:
            LOG.info("session %s: still no store: %s", id, error)
            continue
        return


class Mender:
    """Starts one `mend` per session in trouble."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tasks: dict[SessionId, asyncio.Task[None]] = {}
        engine.on_trouble = self.trouble

    def trouble(self, id: SessionId) -> None:
        if id not in self._tasks:
            task = asyncio.create_task(mend(self._engine, id))
            self._tasks[id] = task
            task.add_done_callback(lambda _: self._tasks.pop(id, None))

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
