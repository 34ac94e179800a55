"""The routes of what sessions did: their work and the way out for it, words, figures (SPEC H4, J1, L1)."""

from typing import Annotated

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter, SkipValidation
from litestar.response import Stream

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.server import acting
from holdfast.server.desk import Desk, Place
from holdfast.server.exporting import exported
from holdfast.server.routes import NDJSON
from holdfast.server.searching import Searcher
from holdfast.server.tally import Tally
from holdfast.views.changes import AppliedOut, DiffOut, applied
from holdfast.views.search import SearchOut
from holdfast.views.stats import StatsOut
from holdfast.wire import ApplyIn

Here = SkipValidation[NamedDependency[Desk]]
Where = SkipValidation[NamedDependency[Place]]
Tallied = SkipValidation[NamedDependency[Tally]]
Searching = SkipValidation[NamedDependency[Searcher]]


@get("/api/sessions/{id:str}/diff")
async def diff(
    desk: Here,
    id: FromPath[str],
    path: FromQuery[str | None] = None,
    text: FromQuery[bool] = True,  # noqa: FBT002  a query parameter, given by name
) -> DiffOut:
    """Everything since the session's base, file by file. `path`: one file, in full; `text=false`:
    which files, and how many lines of each."""
    session = await desk.engine.session(await acting.resolve(desk, id))
    return await desk.work.diff(session, path=path, text=text)


@get("/api/sessions/{id:str}/patch", media_type=MediaType.TEXT)
async def patch(
    desk: Here,
    id: FromPath[str],
    stat: FromQuery[bool] = False,  # noqa: FBT002  as above
) -> Response[bytes]:
    """The same as one patch that git can apply; or as git's table of it."""
    session = await desk.engine.session(await acting.resolve(desk, id))
    return Response(await desk.work.patch(session, stat=stat), media_type="text/x-diff")


@post("/api/sessions/{id:str}/apply", status_code=200)
async def apply(desk: Here, id: FromPath[str], data: JSONBody[ApplyIn]) -> AppliedOut:
    """Git remembers what was brought over; the session is told, so that whoever reads it knows."""
    session = await desk.engine.session(await acting.resolve(desk, id))
    done = await desk.work.apply(session, to=data.to, squash=data.squash)
    if done.moved:
        told = e.Notice(kind="applied", text=f"Applied: {applied(done)}")
        await desk.engine.submit(session.id, i.Heard(events=(told,)))
    return done


@get("/api/sessions/{id:str}/export")
async def export(desk: Here, place: Where, id: FromPath[str]) -> Stream:
    """One session as JSON Lines, its large outputs too."""
    session = await acting.resolve(desk, id)
    row = await desk.engine.journal.row(session)
    if row is None:
        raise acting.unknown(session)
    return Stream(exported(desk.engine, row, place.version), media_type=NDJSON)


@get("/api/search")
async def look_for(
    desk: Here,
    searcher: Searching,
    q: FromQuery[str],
    limit: Annotated[int, QueryParameter(ge=1, le=200)] = 20,
) -> SearchOut:
    """Words in titles and conversations, the session that changed last first."""
    return await searcher.search(desk.engine.journal, q, limit)


@get("/api/stats")
async def stats(
    desk: Here, tally: Tallied, days: Annotated[int, QueryParameter(ge=1, le=3660)] = 30
) -> StatsOut:
    """What stopped, what came back and how well, and what it cost, day by day (SPEC L1)."""
    return await tally.stats(desk.engine, days)


WORK = [diff, patch, apply, export, look_for, stats]
