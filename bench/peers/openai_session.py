"""The OpenAI Agents SDK: SQLiteSession.add_items, one item at a time.

It chooses WAL itself and leaves synchronous at SQLite's default, which is FULL.
It keeps the items only: no fence, no events, nothing owed.
"""

import asyncio
from time import perf_counter_ns
from typing import Any

from bench.measure import Load, import_cpu, timed_load
from bench.peers.common import Task, about, main
from bench.workload import messages

FILE, SESSION = "openai.db", "bench"


def run(task: Task) -> None:
    """Grow the conversation."""
    asyncio.run(_grow(task))


async def _grow(task: Task) -> None:
    session = _session(task)
    about(task.folder / FILE, "openai-agents")
    recorder = task.recorder()
    for message in messages():
        if recorder.done:
            break
        item = {"role": message.role, "content": message.text}
        started = perf_counter_ns()
        await session.add_items([item])
        recorder.add(perf_counter_ns() - started)
    recorder.tell()
    session.close()


def load(task: Task) -> Load:
    """Read the items back."""
    imports = import_cpu("agents")

    async def items() -> int:
        return len(await _session(task).get_items())

    return timed_load(imports, lambda: asyncio.run(items()))


def _session(task: Task) -> Any:
    # Inside the function, so that `load` can time the import.
    from agents import SQLiteSession

    return SQLiteSession(SESSION, task.folder / FILE)


if __name__ == "__main__":
    main(run, load)
