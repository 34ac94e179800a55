"""Where a task stands: what a person said of it, and what its sessions did."""

import pytest

from holdfast.core import events as e
from holdfast.core.evolve import rebuild
from holdfast.core.ids import Millis
from holdfast.core.session import State, Stop, StopReason
from holdfast.core.task import Task, TaskState, Work, standing
from holdfast.views.sessions import summary
from holdfast.views.tasks import work
from tests.core.talk import response, run

OPEN = Task(id="a", title="t")
DONE = Task(id="a", title="t", closed=TaskState.DONE, closed_at=100)
CANCELLED = Task(id="a", title="t", closed=TaskState.CANCELLED, closed_at=100)
RUNNING = Work(state=State.RUNNING)
WAITS = Work(state=State.WAITING_FOR_INPUT, worked_at=50)
WORKED_SINCE = Work(state=State.WAITING_FOR_INPUT, worked_at=150)


@pytest.mark.parametrize(
    ("task", "sessions", "expected"),
    [
        (OPEN, [], "TODO"),
        (OPEN, [Work(state=State.CREATED)], "TODO"),
        (OPEN, [RUNNING], "IN_PROGRESS"),
        (OPEN, [WAITS], "REVIEW"),
        (OPEN, [WAITS, RUNNING], "IN_PROGRESS"),
        (OPEN, [Work(state=State.COMPLETED, worked_at=5)], "REVIEW"),
        # A failed launch, a refused token: no round began.
        (OPEN, [Work(state=State.FAILED)], "TODO"),
        (OPEN, [Work(state=State.WAITING_FOR_INPUT)], "TODO"),
        # A silent reattach.
        (OPEN, [Work(state=State.STARTING)], "TODO"),
        (OPEN, [Work(state=State.STARTING, worked_at=50)], "REVIEW"),
        (DONE, [WAITS], "DONE"),
        (CANCELLED, [WAITS], "CANCELLED"),
        (DONE, [Work(state=State.STARTING, worked_at=50)], "DONE"),
        (DONE, [RUNNING], "IN_PROGRESS"),
        (DONE, [WORKED_SINCE], "REVIEW"),
    ],
)
def test_work_moves_a_task_and_attempts_at_work_do_not(task, sessions, expected):  # spec: A11
    assert standing(task, sessions) == expected


REFUSED = Stop(reason=StopReason.ERROR, message="no such conversation", at=Millis(200))


@pytest.mark.parametrize("said", [True, False])
def test_a_run_that_did_nothing_is_no_work(said):  # spec: A11
    """A token that was refused after the task was done."""
    done = Stop(reason=StopReason.COMPLETED, at=Millis(50))
    first = [run(1), *response(1, "Well."), e.RunStopped(run=1, stop=done)]
    second = [run(2), *(response(2, "More.") if said else []), e.RunStopped(run=2, stop=REFUSED)]
    seen = summary(rebuild("s", [e.SessionOpened(agent="x"), *first, *second]))
    assert standing(DONE, [work(seen)]) == ("REVIEW" if said else "DONE")
