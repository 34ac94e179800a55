"""The routes of what sessions did: their work, and the way out for it (SPEC H4, J1)."""

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, SkipValidation

from holdfast.server import acting
from holdfast.server.desk import Desk
from holdfast.views.changes import AppliedOut, DiffOut
from holdfast.wire import ApplyIn

Here = SkipValidation[NamedDependency[Desk]]


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
    session = await desk.engine.session(await acting.resolve(desk, id))
    return await desk.work.apply(session, to=data.to, squash=data.squash)


WORK = [diff, patch, apply]
