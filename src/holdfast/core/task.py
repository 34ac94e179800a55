"""A task: what is to be done, by any number of sessions (SPEC A11).

Rule 1: only what a person said of a task is stored. Where it stands follows from that and from its
sessions, each time it is asked: two records cannot disagree when there is one.
Rule 2: work moves a task, attempts at work do not. A reattach, a refused token or a launch that failed
do nothing of what was asked for.
"""

from collections.abc import Iterable
from enum import StrEnum

from holdfast.core.ids import Millis
from holdfast.core.session import State
from holdfast.core.value import Value


class TaskState(StrEnum):
    """Spelled like this on every wire."""

    TODO = "TODO"
    IN_PROGRESS = "IN_PROGRESS"
    REVIEW = "REVIEW"
    DONE = "DONE"
    CANCELLED = "CANCELLED"


class Task(Value):
    id: str
    title: str
    description: str = ""
    created_at: Millis = Millis(0)
    closed: TaskState | None = None  # DONE or CANCELLED
    closed_at: Millis = Millis(0)


class Work(Value):
    """What a task needs to know of one of its sessions."""

    state: State
    worked_at: Millis | None = None  # when its last run ended that did something; None: none did


def standing(task: Task, sessions: Iterable[Work]) -> TaskState:
    since = [work for work in sessions if _moved(task, work)]
    if any(work.state is State.RUNNING for work in since):
        return TaskState.IN_PROGRESS
    if since:
        return TaskState.REVIEW
    return task.closed or TaskState.TODO


def _moved(task: Task, work: Work) -> bool:
    """It worked, and after the task was closed, if it was."""
    if work.state is State.RUNNING:
        return True
    at = work.worked_at
    return at is not None and (task.closed is None or at > task.closed_at)
