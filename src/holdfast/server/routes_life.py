"""The routes of a session's life among others: its name and tags, archive, trash, its queue."""

from litestar import delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, SkipValidation

from holdfast.core import inputs as i
from holdfast.core.ids import InputId
from holdfast.server import acting, living
from holdfast.server.desk import Desk
from holdfast.views.document import PurgedOut
from holdfast.wire import (
    Created,
    Done,
    EditIn,
    ForkIn,
    QueueOut,
    RenameIn,
    RewindIn,
    RewoundOut,
    TagIn,
    TrashIn,
    UndoIn,
)

Here = SkipValidation[NamedDependency[Desk]]


@post("/api/sessions/{id:str}/rename", status_code=200)
async def rename(desk: Here, id: FromPath[str], data: JSONBody[RenameIn]) -> Done:
    command = i.RenameSession(title=data.title)
    return await acting.tell(desk, await acting.resolve(desk, id), command)


@post("/api/sessions/{id:str}/pin", status_code=200)
async def pin(desk: Here, id: FromPath[str], data: JSONBody[UndoIn]) -> Done:
    command = i.PinSession(pinned=not data.undo)
    return await acting.tell(desk, await acting.resolve(desk, id), command)


@post("/api/sessions/{id:str}/tag", status_code=200)
async def tag(desk: Here, id: FromPath[str], data: JSONBody[TagIn]) -> Done:
    command = i.TagSession(add=data.add, remove=data.remove)
    return await acting.tell(desk, await acting.resolve(desk, id), command)


@post("/api/sessions/{id:str}/archive", status_code=200)
async def archive(desk: Here, id: FromPath[str], data: JSONBody[UndoIn]) -> Done:
    command = i.ArchiveSession(archived=not data.undo)
    return await acting.tell(desk, await acting.resolve(desk, id), command)


@post("/api/sessions/{id:str}/trash", status_code=200)
async def trash(desk: Here, id: FromPath[str], data: JSONBody[TrashIn]) -> Done:
    """Its work tree goes with it, if it has one of its own. 409 `would_lose` names what would be
    lost; `force` lets it go."""
    command = i.TrashSession(force=data.force)
    return await living.settled(desk, await acting.resolve(desk, id), command)


@post("/api/sessions/{id:str}/restore", status_code=200)
async def restore(desk: Here, id: FromPath[str]) -> Done:
    return await living.settled(desk, await acting.resolve(desk, id), i.RestoreSession())


@post("/api/sessions/{id:str}/purge", status_code=200)
async def purge(desk: Here, id: FromPath[str]) -> PurgedOut:
    """From the trash, for good: its whole record, and its snapshots. Its branch stays."""
    return await living.purge(desk, await acting.resolve(desk, id))


@post("/api/sessions/{id:str}/fork", status_code=201)
async def fork(desk: Here, id: FromPath[str], data: JSONBody[ForkIn]) -> Created:
    return await living.fork(desk, await acting.resolve(desk, id), data)


@post("/api/sessions/{id:str}/rewind", status_code=200)
async def rewind(desk: Here, id: FromPath[str], data: JSONBody[RewindIn]) -> RewoundOut:
    return await living.rewind(desk, await acting.resolve(desk, id), data)


# --- the queue ------------------------------------------------------------------------------------


@get("/api/sessions/{id:str}/queue")
async def queue(desk: Here, id: FromPath[str]) -> QueueOut:
    session = await acting.shown(desk, await acting.resolve(desk, id))
    return QueueOut(queue=session.queue, held=session.run is None)


@post("/api/sessions/{id:str}/queue/{input:str}", status_code=200)
async def edit(desk: Here, id: FromPath[str], input: FromPath[str], data: JSONBody[EditIn]) -> Done:
    acting.check_prompt(data.text)
    command = i.EditInput(input=InputId(input), text=data.text)
    return await acting.tell(desk, await acting.resolve(desk, id), command)


@delete("/api/sessions/{id:str}/queue/{input:str}", status_code=200)
async def withdraw(desk: Here, id: FromPath[str], input: FromPath[str]) -> Done:
    command = i.WithdrawInput(input=InputId(input))
    return await acting.tell(desk, await acting.resolve(desk, id), command)


LIFE = [rename, pin, tag, archive, trash, restore, purge, fork, rewind, queue, edit, withdraw]
