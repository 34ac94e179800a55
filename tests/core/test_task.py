"""Where a task stands: what a person said of it, and what its sessions did."""

import pytest

from holdfast.core.session import State
from holdfast.core.task import Task, TaskState, Work, standing

OPEN = Task(id="a", title="t")
DONE = Task(id="a", title="t", closed=TaskState.DONE, closed_at=100)
CANCELLED = Task(id="a", title="t", closed=TaskState.CANCELLED, closed_at=100)
RUNNING = Work(state=State.RUNNING)
WAITS = Work(state=State.WAITING_FOR_INPUT, round=3, stopped_at=50)
WORKED_SINCE = Work(state=State.WAITING_FOR_INPUT, round=3, stopped_at=150)


@pytest.mark.parametrize(
    ("task", "sessions", "expected"),
    [
        (OPEN, [], "TODO"),
        (OPEN, [Work(state=State.CREATED)], "TODO"),
        (OPEN, [RUNNING], "IN_PROGRESS"),
        (OPEN, [WAITS], "REVIEW"),
        (OPEN, [WAITS, RUNNING], "IN_PROGRESS"),
        (OPEN, [Work(state=State.COMPLETED, round=1, stopped_at=5)], "REVIEW"),
        # A failed launch, a refused token: no round began.
        (OPEN, [Work(state=State.FAILED)], "TODO"),
        (OPEN, [Work(state=State.WAITING_FOR_INPUT, stopped_at=7)], "TODO"),
        # A silent reattach.
        (OPEN, [Work(state=State.STARTING)], "TODO"),
        (OPEN, [Work(state=State.STARTING, round=3, stopped_at=50)], "REVIEW"),
        (DONE, [WAITS], "DONE"),
        (CANCELLED, [WAITS], "CANCELLED"),
        (DONE, [Work(state=State.STARTING, round=3, stopped_at=50)], "DONE"),
        (DONE, [RUNNING], "IN_PROGRESS"),
        (DONE, [WORKED_SINCE], "REVIEW"),
    ],
)
def test_work_moves_a_task_and_attempts_at_work_do_not(task, sessions, expected):  # spec: A11
    assert standing(task, sessions) == expected
