"""News from elsewhere: another daemon on the same server, a library on the same file.

What this process writes it passes on itself (feed.py). Of what others write the store gives a hint, and
only while somebody watches; then whoever is watched is looked at, and watchers read from their cursors
as ever. A hint may be missed while a watcher is busy reading: so those who have just come, or were there
a moment ago, are looked at too.
"""

import logging
from collections.abc import AsyncIterator

from holdfast.core.ids import Millis, Seq, SessionId
from holdfast.engine.engine import STREAMED, Engine
from holdfast.engine.feed import EVERYTHING
from holdfast.ports import JournalError, Written

LOG = logging.getLogger(__name__)
AGAIN = 1_000  # ms after a failure of the store
LATE = 10_000  # ms that a write may take from its decision to its commit
LISTED = 100  # rows of the list that are looked at
TAIL = 64  # events in which the last one that is safe is looked for


async def listen(engine: Engine) -> None:
    """Runs for ever."""
    while True:
        await engine.feed.somebody()
        try:
            async with engine.journal.changes() as news:
                await _pass_on(engine, news)
        except JournalError as error:
            LOG.info("no news from elsewhere: %s", error)
            await engine.clock.sleep_until(Millis(engine.clock.now() + AGAIN))


async def _pass_on(engine: Engine, news: AsyncIterator[Written | None]) -> None:
    """Until nobody watches any more."""
    before: frozenset[SessionId] = frozenset()
    looked = engine.clock.now()
    async for written in news:
        watched = engine.feed.watched()
        if not watched and not before:
            return
        here, wanted, before = watched | before, watched - before, watched
        if written is not None:
            wanted = here if written.session is None else here & {written.session, EVERYTHING}
        if EVERYTHING in wanted:
            now = engine.clock.now()
            wanted |= await _listed(engine, written, since=looked - LATE)
            looked = now
        for id in wanted - {EVERYTHING}:
            await _look(engine, id)


async def _listed(engine: Engine, written: Written | None, *, since: int) -> frozenset[SessionId]:
    """Whose line in the list may be another."""
    if written is not None and written.session is not None:
        return frozenset({written.session})
    rows = await engine.journal.rows(limit=LISTED)
    return frozenset(row.session for row in rows if row.updated_at >= since)


async def _look(engine: Engine, id: SessionId) -> None:
    live, feed = engine.sessions.get(id), engine.feed
    if live is not None and live.lease is not None:
        return  # nobody else writes it
    row = await engine.journal.row(id)
    if row is None or row.head <= feed.written(id):
        return
    shown = feed.head(id)
    tail = await engine.journal.read(id, after=Seq(max(shown, row.head - TAIL)))
    safe = (r.seq for r in reversed(tail) if not isinstance(r.event, STREAMED))
    firm = next(safe, shown)  # what is only streamed text may still be lost
    if firm > shown:
        feed.publish(id, firm)
    if row.head > firm:
        feed.stir(id, row.head)
