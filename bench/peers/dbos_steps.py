"""DBOS on SQLite: one workflow, one step per message.

The result of a step is what DBOS keeps. Its settings on SQLite are its own: a rollback
journal, not WAL. `run` leaves the workflow unfinished, as a killed process does; `load`
is DBOS's own recovery at launch, which calls the workflow again and gives back the
recorded result of every past step. Recorded steps can also be listed, but a workflow
that is to go on comes back this way. Its queue is polled, so part of the time is waiting.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter_ns
from typing import Any

from bench.measure import Load, import_cpu, say, timed_load
from bench.peers.common import Task, about, main
from bench.workload import message

FILE = "dbos.db"
RECOVERY_SECONDS = 300


def run(task: Task) -> None:
    """Grow the conversation."""
    made: dict[int, dict[str, str]] = {}
    recorder = task.recorder()
    finished = threading.Event()
    started_at = 0

    def before(index: int) -> None:
        nonlocal started_at
        next_one = message(index)
        made[index] = {"role": next_one.role, "text": next_one.text}
        started_at = perf_counter_ns()

    def after(index: int, _result: object) -> bool:
        recorder.add(perf_counter_ns() - started_at)
        del made[index]
        return not recorder.done

    dbos = _dbos(task)
    workflow = _workflow(made.__getitem__, before, after, finished)
    dbos.launch()
    about(task.folder / FILE, "dbos")
    dbos.start_workflow(workflow)
    finished.wait()
    recorder.tell()
    os._exit(0)  # the workflow is still running, and is to stay unfinished


def load(task: Task) -> Load:
    """Let DBOS recover the workflow, until it is where it was."""
    imports = import_cpu("dbos")
    recovered: list[object] = []
    finished = threading.Event()

    def never(index: int) -> dict[str, str]:
        raise RuntimeError(f"step {index} ran again")

    def after(_index: int, result: object) -> bool:
        recovered.append(result)
        return len(recovered) < task.messages

    def recover() -> int:
        dbos = _dbos(task)
        _workflow(never, lambda _index: None, after, finished)
        dbos.launch()
        if not finished.wait(RECOVERY_SECONDS):
            raise TimeoutError(f"DBOS came to {len(recovered)} of {task.messages} messages")
        return len(recovered)

    measured = timed_load(imports, recover)
    say(**asdict(measured))
    os._exit(0)


def _workflow(
    make: Callable[[int], dict[str, str]],
    before: Callable[[int], None],
    after: Callable[[int, object], bool],
    finished: threading.Event,
) -> Any:
    from dbos import DBOS

    @DBOS.step(name="remember")
    def remember(index: int) -> dict[str, str]:
        return make(index)

    @DBOS.workflow(name="conversation")
    def conversation() -> None:
        index = 0
        while True:
            before(index)
            if not after(index, remember(index)):
                finished.set()
                # Blocked for ever: a workflow that returns cannot be recovered again.
                threading.Event().wait()
            index += 1

    return conversation


def _dbos(task: Task) -> Any:
    from dbos import DBOS

    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{task.folder / FILE}",
            "application_version": "bench",
            "executor_id": "bench",
            "log_level": "ERROR",
        }
    )
    return DBOS


if __name__ == "__main__":
    main(run, load)
