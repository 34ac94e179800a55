"""The routes of sessions (SPEC J1). Each parses, hands on and answers; nothing is decided here."""

from typing import Annotated, Any

import msgspec
from litestar import MediaType, Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter, SkipValidation
from litestar.response import Stream

from holdfast.core import inputs as i
from holdfast.core.checkpoint import checkpoint
from holdfast.core.conversation import build
from holdfast.core.ids import InputId, Millis, Seq
from holdfast.core.offer import ResumeStatus
from holdfast.core.session import State
from holdfast.core.value import replace
from holdfast.server import acting, bulk, pages
from holdfast.server.desk import Desk, Failure
from holdfast.server.listing import Only, Wanted, listed
from holdfast.server.reading import lines, read_on
from holdfast.views.document import SessionOut
from holdfast.views.moments import rfc3339
from holdfast.views.table import table
from holdfast.wire import (
    PAGE,
    AgentsIn,
    AnswerIn,
    BulkOut,
    CallOut,
    CloseIn,
    Created,
    Done,
    EventsOut,
    ItemsOut,
    NewSession,
    PlanOut,
    PromptIn,
    PromptOut,
    ResumeIn,
    RunOut,
    SeenIn,
    SessionsOut,
)

Here = SkipValidation[NamedDependency[Desk]]
Asking = Request[Any, Any, Any]
# The framework has another use for the name `state`.
InState = Annotated[State | None, QueryParameter(name="state")]
NDJSON = "application/x-ndjson"
LIST = 1000  # sessions in one answer, at most


def by_unix(request: Asking) -> bool:
    return request.scope.get("holdfast.unix") is True


@post("/api/sessions", status_code=201)
async def create(request: Asking, desk: Here, data: JSONBody[NewSession]) -> Created:
    if data.prompt is not None or data.images:
        acting.check_prompt(data.prompt or "", data.images)
    if data.environ and not by_unix(request):
        raise Failure("forbidden", "Keys are taken over the Unix socket alone.")
    if data.task is not None:
        data = replace(data, task=(await acting.find_task(desk, data.task)).id)
    opened = await desk.opening.create(data)
    acting.lend(desk, opened.id, data.environ, unix=by_unix(request))
    run = None
    if data.prompt is not None:
        input = InputId(data.input or "first")
        sent = await desk.engine.submit(opened.id, i.SendPrompt(input=input, text=data.prompt))
        run = sent.session.run.number if sent.session.run else sent.session.runs
    document = await acting.shown(desk, opened.id)
    return Created(id=opened.id, session=document, run=run, notes=opened.notes)


@get("/api/sessions")
async def sessions(
    desk: Here,
    limit: Annotated[int, QueryParameter(ge=1, le=LIST)] = 100,
    before: FromQuery[str | None] = None,
    archived: FromQuery[bool] = False,  # noqa: FBT002  a query parameter, given by name
    only: FromQuery[Only | None] = None,
    tag: FromQuery[str | None] = None,
    in_state: InState = None,
) -> SessionsOut:
    """Newest update first. `before` is what the last answer said as `next`."""
    wanted = Wanted(archived=archived, only=only, tag=tag, state=in_state)
    return await listed(desk, wanted, limit, before)


@get("/api/table", media_type=MediaType.TEXT)
async def as_table(
    desk: Here,
    limit: Annotated[int, QueryParameter(ge=1, le=LIST)] = 100,
    width: Annotated[int, QueryParameter(ge=0)] = 0,
    colour: FromQuery[bool] = False,  # noqa: FBT002  as above
    archived: FromQuery[bool] = False,  # noqa: FBT002
    only: FromQuery[Only | None] = None,
    tag: FromQuery[str | None] = None,
    in_state: InState = None,
) -> str:
    """The same for a terminal; what is pinned comes first."""
    wanted = Wanted(archived=archived, only=only, tag=tag, state=in_state)
    found = await listed(desk, wanted, limit, None)
    older = f"... and older ones: these are the newest {limit}.\n" if found.next else ""
    if not found.sessions and wanted.narrow:
        return "No such sessions.\n"
    now = desk.engine.clock.now()
    pinned_first = sorted(found.sessions, key=lambda s: not s.pinned)
    return table(pinned_first, now=now, width=width, colour=colour) + older


@get("/api/sessions/{id:str}")
async def one(desk: Here, id: FromPath[str]) -> SessionOut:
    return await acting.shown(desk, await acting.resolve(desk, id))


@get("/api/sessions/{id:str}/events")
async def events(
    desk: Here,
    id: FromPath[str],
    after: Annotated[int, QueryParameter(ge=0)] = 0,
    follow: Annotated[int | None, QueryParameter(ge=0)] = None,
) -> EventsOut | Stream:
    """`follow` is the number of a run: JSON Lines up to its stop; 0: for ever."""
    session = await acting.resolve(desk, id)
    if follow is not None:
        return Stream(lines(desk.engine, session, Seq(after), follow or None), media_type=NDJSON)
    piece = await read_on(desk.engine, session, Seq(after))
    epoch = desk.engine.journal.epoch
    return EventsOut(epoch=epoch, head=piece.head, events=tuple(piece.events))


@get("/api/sessions/{id:str}/items")
async def items(
    desk: Here,
    id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=PAGE)] = 200,
    before: FromQuery[str | None] = None,
) -> ItemsOut:
    """The newest page of the conversation, or the one before an item."""
    session, engine = await acting.resolve(desk, id), desk.engine
    page = await (
        pages.newest(engine, session, limit)
        if before is None
        else pages.before(engine, session, before, limit)
    )
    return ItemsOut(
        epoch=engine.journal.epoch,
        head=page.head,
        document=await acting.shown(desk, session),
        items=page.items,
        more=page.more,
    )


@get("/api/sessions/{id:str}/calls/{call:str}")
async def call(desk: Here, id: FromPath[str], call: FromPath[str]) -> CallOut:
    return await pages.call(desk.engine, await acting.resolve(desk, id), call)


@post("/api/sessions/{id:str}/prompt", status_code=200)
async def prompt(
    request: Asking, desk: Here, id: FromPath[str], data: JSONBody[PromptIn]
) -> PromptOut:
    session = await acting.resolve(desk, id)
    return await acting.prompt(desk, session, data, unix=by_unix(request))


@post("/api/sessions/{id:str}/resume", status_code=200)
async def resume(
    request: Asking,
    desk: Here,
    id: FromPath[str],
    data: JSONBody[ResumeIn],
    wait: FromQuery[bool] = False,  # noqa: FBT002  a query parameter, given by name
) -> RunOut | Stream:
    session = await acting.resolve(desk, id)
    begun = await acting.resume(desk, session, data, unix=by_unix(request))
    if not wait or begun.run is None:
        return begun
    return Stream(lines(desk.engine, session, Seq(begun.head), begun.run), media_type=NDJSON)


@post("/api/resume", status_code=200)
async def resume_all(request: Asking, desk: Here, data: JSONBody[ResumeIn]) -> BulkOut:
    return await bulk.resume_all(desk, data, unix=by_unix(request))


@post("/api/agents/resume", status_code=200)
async def resume_agents(request: Asking, desk: Here, data: JSONBody[AgentsIn]) -> BulkOut:
    return await bulk.resume_agents(desk, data, unix=by_unix(request))


@post("/api/sessions/{id:str}/cancel", status_code=200)
async def cancel(desk: Here, id: FromPath[str]) -> Done:
    return await acting.tell(desk, await acting.resolve(desk, id), i.CancelRun())


@post("/api/sessions/{id:str}/reattach", status_code=200)
async def reattach(desk: Here, id: FromPath[str]) -> Done:
    return await acting.tell(desk, await acting.resolve(desk, id), i.Reattach())


@post("/api/sessions/{id:str}/dismiss", status_code=200)
async def dismiss(desk: Here, id: FromPath[str]) -> Done:
    return await acting.tell(desk, await acting.resolve(desk, id), i.DismissStop())


@post("/api/sessions/{id:str}/close", status_code=200)
async def close(desk: Here, id: FromPath[str], data: JSONBody[CloseIn]) -> Done:
    command = i.CloseSession(cancelled=data.cancelled)
    return await acting.tell(desk, await acting.resolve(desk, id), command)


@post("/api/sessions/{id:str}/reopen", status_code=200)
async def reopen(desk: Here, id: FromPath[str]) -> Done:
    return await acting.tell(desk, await acting.resolve(desk, id), i.ReopenSession())


@post("/api/sessions/{id:str}/seen", status_code=200)
async def seen(desk: Here, id: FromPath[str], data: JSONBody[SeenIn]) -> Done:
    command = i.MarkSeen(by=data.by)
    return await acting.tell(desk, await acting.resolve(desk, id), command)


@get("/api/sessions/{id:str}/decisions")
async def decisions(desk: Here, id: FromPath[str]) -> dict[str, Any]:
    document = await acting.shown(desk, await acting.resolve(desk, id))
    return {"decisions": document.pending}


@post("/api/sessions/{id:str}/decisions", status_code=200)
async def answer(desk: Here, id: FromPath[str], data: JSONBody[AnswerIn]) -> Done:
    return await acting.answer(desk, await acting.resolve(desk, id), data)


@get("/api/sessions/{id:str}/status")
async def standing(desk: Here, id: FromPath[str]) -> ResumeStatus:
    return await acting.standing(desk, await acting.resolve(desk, id))


@get("/api/sessions/{id:str}/plan")
async def plan(
    desk: Here,
    id: FromPath[str],
    message: FromQuery[str | None] = None,
    fresh: FromQuery[bool] = False,  # noqa: FBT002  a query parameter, given by name
    agent: FromQuery[str | None] = None,
    model: FromQuery[str | None] = None,
    mode: FromQuery[str | None] = None,
) -> PlanOut:
    session = await acting.resolve(desk, id)
    wanted = ResumeIn(message=message, fresh=fresh, agent=agent, model=model, mode=mode)
    return await acting.plan(desk, session, wanted)


@get("/api/sessions/{id:str}/checkpoint")
async def where_we_were(desk: Here, id: FromPath[str]) -> dict[str, Any]:
    session = await acting.resolve(desk, id)
    fold = await desk.engine.session(session)
    recorded = await desk.engine.journal.read(session)
    messages = build(r.event for r in recorded).messages()
    saved = recorded[-1].at if recorded else Millis(0)
    diff = await desk.work.saved(fold)
    found = checkpoint(fold, messages, saved_at=saved, saved_diff=diff)
    if found is None:
        raise Failure("not_found", f"Session {session} has nothing to come back to.")
    body: dict[str, Any] = msgspec.to_builtins(found)
    return {**body, "saved_at": rfc3339(found.saved_at)}


SESSIONS = [
    create,
    sessions,
    as_table,
    one,
    events,
    items,
    call,
    prompt,
    resume,
    resume_all,
    resume_agents,
    cancel,
    reattach,
    dismiss,
    close,
    reopen,
    seen,
    decisions,
    answer,
    standing,
    plan,
    where_we_were,
]
