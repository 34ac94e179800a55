"""Conversations that agents had without us, listed and taken in (SPEC E15)."""

from litestar import post
from litestar.params import JSONBody

from holdfast.core.adoption import may_be_in_use
from holdfast.core.ids import SessionId
from holdfast.ports import Record
from holdfast.server.acting import MANY
from holdfast.server.desk import Desk, Failure
from holdfast.server.routes import Asking, Here, by_unix
from holdfast.views.adoption import AdoptIn, AdoptOut, RecordOut, RecordsIn, RecordsOut
from holdfast.views.moments import rfc3339

SHORTEST = 4  # characters of an id that is to name one conversation


@post("/api/records", status_code=200)
async def records(request: Asking, desk: Here, data: JSONBody[RecordsIn]) -> RecordsOut:
    """Over the Unix socket: which folders are looked at is the user's own environment."""
    found, unread = await _records(request, desk, data)
    ours = await _taken(desk)
    rows = tuple(listed(r, ours.get((r.agent, r.id))) for r in found)
    return RecordsOut(records=rows, unread=unread)


@post("/api/adopt", status_code=200)
async def adopt(request: Asking, desk: Here, data: JSONBody[AdoptIn]) -> AdoptOut:
    """A second time is no second session; but every fork is one."""
    wanted = RecordsIn(agent=data.agent, environ=data.environ)
    known, _ = await _records(request, desk, wanted)
    found = [r for r in known if r.id.startswith(data.id) and len(data.id) >= SHORTEST]
    if len(found) != 1:
        raise _not_one(data.id, found)
    record = found[0]
    ours = (await _taken(desk)).get((record.agent, record.id))
    if ours is not None and not data.fork:
        return AdoptOut(session=ours, record=listed(record, ours), already=True)
    in_use = not data.fork and may_be_in_use(record.modified_at, desk.engine.clock.now())
    id, torn = await desk.opening.adopt(record, fork=data.fork)
    return AdoptOut(session=id, record=listed(record, id), torn=torn, in_use=in_use)


async def _records(
    request: Asking, desk: Desk, wanted: RecordsIn
) -> tuple[list[Record], tuple[str, ...]]:
    if not by_unix(request):
        raise Failure("forbidden", "Other agents' records are read over the Unix socket alone.")
    found, unread = await desk.records.records(wanted.environ)
    here = wanted.folder.rstrip("/")
    kept = [
        r
        for r in found
        if wanted.agent in (None, r.agent) and (not here or f"{r.folder}/".startswith(f"{here}/"))
    ]
    return kept, unread


async def _taken(desk: Desk) -> dict[tuple[str, str], SessionId]:
    rows = await desk.engine.journal.rows(limit=MANY)
    return {
        (row.summary.agent, row.summary.token): row.session
        for row in rows
        if row.summary.token is not None and not row.summary.trashed
    }


def listed(record: Record, session: SessionId | None) -> RecordOut:
    return RecordOut(
        agent=record.agent,
        id=record.id,
        folder=record.folder,
        branch=record.branch,
        title=record.title,
        last_prompt=record.last_prompt,
        prompts=record.prompts,
        size=record.size,
        modified_at=rfc3339(record.modified_at),
        torn=record.torn,
        session=session,
    )


def _not_one(given: str, found: list[Record]) -> Failure:
    if not found:
        hint = "`hold adopt` lists them; give at least four characters."
        return Failure("not_found", f"No agent has a conversation {given!r} here.", hint)
    names = tuple(f"{r.agent} {r.id}" for r in found)
    message = f"{given!r} is the beginning of {len(found)} conversations: {', '.join(names)}"
    return Failure("ambiguous", message, "Give more of it, or --agent.", candidates=names)


ADOPTION = [records, adopt]
