"""The ledgers of all sessions, kept up to date as they are asked for (SPEC L1).

Derived from the journal and kept in memory alone: after a start the first look folds what lies in the
days that were asked for, each look after that what came since.
"""

import asyncio

from holdfast.core.ids import Seq, SessionId
from holdfast.engine.engine import Engine
from holdfast.ports import JournalError, Row
from holdfast.views.moments import DAY
from holdfast.views.stats import StatsOut, stats
from holdfast.views.telemetry import KINDS, Ledger

PAGE = 500  # rows of the list at once


class Tally:
    def __init__(self) -> None:
        self._ledgers: dict[SessionId, Ledger] = {}
        self._heads: dict[SessionId, Seq] = {}
        self._turn = asyncio.Lock()  # two who look at once must not fold an event twice

    async def stats(self, engine: Engine, days: int) -> StatsOut:
        now = engine.clock.now()
        async with self._turn:
            ledgers = await self._recent(engine, now - days * DAY)
        return await asyncio.to_thread(stats, ledgers, now=now, days=days)

    async def _recent(self, engine: Engine, since: int) -> list[Ledger]:
        found: list[Ledger] = []
        before = None
        while page := await engine.journal.rows(limit=PAGE, before=before):
            for row in page:
                if row.updated_at < since:
                    return found
                ledger = await self._caught_up(engine, row)
                found += [ledger] if ledger is not None else []
            before = (page[-1].updated_at, page[-1].session)
        return found

    async def _caught_up(self, engine: Engine, row: Row) -> Ledger | None:
        known = self._ledgers.setdefault(row.session, Ledger(row.session))
        if self._heads.get(row.session) == row.head:
            return known
        try:
            for r in await engine.journal.pick(row.session, KINDS, after=Seq(known.seq)):
                known.add(r.seq, r.at, r.event)
        except JournalError:
            return None  # it cannot be read, and says so itself
        self._heads[row.session] = row.head
        return known
