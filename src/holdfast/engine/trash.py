"""Empties the trash: what has been in it for as long as was promised is removed for good (SPEC A10).

The session's own journal says so before anything is done, so what was cut off in the middle is done
when its debt is paid again: the snapshots go first, the record of them last and at once.
"""

import logging

from holdfast.core.errors import Refused
from holdfast.core.ids import Millis, SessionId
from holdfast.core.inputs import PurgeSession
from holdfast.core.session import Session
from holdfast.engine.engine import Engine
from holdfast.ports import Errand, JournalError, Row

LOG = logging.getLogger(__name__)
HOUR = 3_600_000  # ms
DAY = 24 * HOUR
PAGE = 200  # rows that are looked at in one go


async def keep_emptying(engine: Engine, days: int) -> None:
    """Now, and once an hour. Runs for ever; with 0 days nothing is ever removed."""
    while days > 0:
        try:
            await empty(engine, kept=days * DAY)
        except JournalError as error:
            LOG.warning("the trash could not be looked through: %s", error)
        await engine.clock.sleep_until(Millis(engine.clock.now() + HOUR))


async def empty(engine: Engine, *, kept: int) -> list[SessionId]:
    """Only what nobody has touched since is looked at; the core says which of it may go."""
    gone: list[SessionId] = []
    before: tuple[Millis, SessionId] | None = (Millis(engine.clock.now() - kept + 1), SessionId(""))
    while before is not None:
        rows = await engine.journal.rows(limit=PAGE, before=before)
        for row in rows:
            if row.summary.trashed and not row.quarantined and await _purged(engine, row, kept):
                gone.append(row.session)
        before = (rows[-1].updated_at, rows[-1].session) if len(rows) == PAGE else None
    return gone


async def _purged(engine: Engine, row: Row, kept: int) -> bool:
    try:
        await engine.submit(row.session, PurgeSession(kept=kept))
    except (Refused, JournalError) as why:
        LOG.info("session %s stays in the trash: %s", row.session, why)
        return False
    LOG.info("session %s was in the trash for long enough: removed for good", row.session)
    return True


async def erase(engine: Engine, errand: Errand, session: Session) -> None:
    await engine.workspaces.discard(errand, session)
    await engine.erase(session.id)
