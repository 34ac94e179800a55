"""The list of sessions, by what somebody wants to see of it."""

from collections.abc import AsyncIterator
from typing import Literal

from holdfast.core.ids import Millis, SessionId
from holdfast.core.session import State
from holdfast.core.value import Value
from holdfast.ports import Row
from holdfast.server import acting
from holdfast.server.desk import Desk, Failure
from holdfast.views.document import SessionOut
from holdfast.views.moments import from_rfc3339, rfc3339
from holdfast.views.sessions import Summary
from holdfast.wire import SessionsOut

AT_ONCE = 1000  # rows that are read together
Only = Literal["archived", "trash"]
Cursor = tuple[Millis, SessionId]


class Wanted(Value):
    """Nothing said: what is neither archived nor in the trash."""

    archived: bool = False  # those too
    only: Only | None = None
    tag: str | None = None
    state: State | None = None

    @property
    def narrow(self) -> bool:
        return bool(self.only or self.tag or self.state)

    def fits(self, seen: Summary) -> bool:
        if seen.trashed != (self.only == "trash"):
            return False
        archived = seen.archived if self.only == "archived" else not seen.archived
        shown = archived or self.archived or self.only == "trash"
        tagged = self.tag is None or self.tag in seen.tags
        return shown and tagged and (self.state is None or seen.state is self.state)


async def listed(desk: Desk, wanted: Wanted, limit: int, before: str | None) -> SessionsOut:
    """Newest update first; `limit` counts what fits."""
    rows: list[Row] = []
    async for row in _fitting(desk, wanted, limit + 1, _cursor(before)):
        rows.append(row)
        if len(rows) > limit:
            break
    last = rows[limit - 1] if len(rows) > limit else None
    after = f"{rfc3339(last.updated_at)}/{last.session}" if last else None
    return SessionsOut(sessions=tuple([await _out(desk, r) for r in rows[:limit]]), next=after)


async def _fitting(
    desk: Desk, wanted: Wanted, hint: int, before: Cursor | None
) -> AsyncIterator[Row]:
    size = min(hint, AT_ONCE)
    while True:
        rows = await desk.engine.journal.rows(limit=size, before=before)
        for row in rows:
            if wanted.fits(row.summary):
                yield row
        if len(rows) < size:
            return
        before, size = (rows[-1].updated_at, rows[-1].session), AT_ONCE


async def _out(desk: Desk, row: Row) -> SessionOut:
    whole = (row.summary.pending or row.summary.queue) and not row.quarantined
    return await acting.shown(desk, row.session) if whole else acting.from_row(row)


def _cursor(before: str | None) -> Cursor | None:
    if before is None:
        return None
    at, _, id = before.partition("/")
    try:
        return from_rfc3339(at), SessionId(id)
    except ValueError as error:
        raise Failure("invalid", str(error), "Take `next` of the last answer.") from error
