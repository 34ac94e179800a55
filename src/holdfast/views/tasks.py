"""A task as people see it: what was said of it, where it stands, whose work it is."""

from collections.abc import Mapping, Sequence

from holdfast.core.ids import SessionId
from holdfast.core.task import Task, TaskState, Work, standing
from holdfast.core.value import Value
from holdfast.views.moments import rfc3339
from holdfast.views.sessions import Summary


class TaskOut(Value):
    id: str
    title: str
    description: str
    state: TaskState
    sessions: tuple[str, ...]  # newest update first
    created_at: str


def shown(task: Task, sessions: Mapping[SessionId, Summary]) -> TaskOut:
    """`sessions`: its own."""
    return TaskOut(
        id=task.id,
        title=task.title,
        description=task.description,
        state=standing(task, [work(seen) for seen in sessions.values()]),
        sessions=tuple(sessions),
        created_at=rfc3339(task.created_at),
    )


def work(seen: Summary) -> Work:
    stopped = seen.last_stop.at if seen.last_stop and seen.round else None
    return Work(state=seen.state, worked_at=seen.worked_at or stopped)


def by_task(
    sessions: Sequence[tuple[SessionId, Summary]],
) -> dict[str, dict[SessionId, Summary]]:
    """In one walk over the list; sessions in the trash are nobody's."""
    found: dict[str, dict[SessionId, Summary]] = {}
    for id, seen in sessions:
        if seen.task is not None and not seen.trashed:
            found.setdefault(seen.task, {})[id] = seen
    return found
