"""The routes of tasks (SPEC A11)."""

import secrets

from litestar import get, post
from litestar.params import FromPath, JSONBody

from holdfast.core.ids import SessionId
from holdfast.core.task import Task, TaskState
from holdfast.core.value import replace
from holdfast.server.acting import MANY, find_task
from holdfast.server.desk import Desk, Failure
from holdfast.server.routes import Here
from holdfast.views.sessions import Summary
from holdfast.views.tasks import TaskOut, by_task, shown
from holdfast.wire import CloseIn, TaskIn, TasksOut

TITLE = 200  # characters


@post("/api/tasks", status_code=201)
async def new_task(desk: Here, data: JSONBody[TaskIn]) -> TaskOut:
    title = " ".join(data.title.split())
    if not title or len(title) > TITLE:
        raise Failure("invalid", f"A task needs a title of 1 to {TITLE} characters.")
    now = desk.engine.clock.now()
    task = Task(id=secrets.token_hex(4), title=title, description=data.description, created_at=now)
    await desk.engine.journal.put_task(task)
    return shown(task, {})


@get("/api/tasks")
async def tasks(desk: Here) -> TasksOut:
    """Newest first."""
    theirs = await _sessions(desk)
    found = await desk.engine.journal.tasks()
    return TasksOut(tasks=tuple(shown(task, theirs.get(task.id, {})) for task in found))


@get("/api/tasks/{id:str}")
async def one_task(desk: Here, id: FromPath[str]) -> TaskOut:
    return await _shown(desk, await find_task(desk, id))


@post("/api/tasks/{id:str}/close", status_code=200)
async def close_task(desk: Here, id: FromPath[str], data: JSONBody[CloseIn]) -> TaskOut:
    task = await find_task(desk, id)
    closed = TaskState.CANCELLED if data.cancelled else TaskState.DONE
    task = replace(task, closed=closed, closed_at=desk.engine.clock.now())
    await desk.engine.journal.put_task(task)
    return await _shown(desk, task)


async def _shown(desk: Desk, task: Task) -> TaskOut:
    return shown(task, (await _sessions(desk)).get(task.id, {}))


async def _sessions(desk: Desk) -> dict[str, dict[SessionId, Summary]]:
    rows = await desk.engine.journal.rows(limit=MANY)
    return by_task([(row.session, row.summary) for row in rows])


TASKS = [new_task, tasks, one_task, close_task]
