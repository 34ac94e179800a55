"""Holdfast doing the work.

    python -m bench.ours load FOLDER    the last state, in a new process
    python -m bench.ours raw FOLDER     the same rows by plain sqlite3 and json.loads
    python -m bench.ours fold           200,000 events folded

Each prints one JSON line. The driver leaves Holdfast out, and says so, while a
NotImplementedError or an ImportError comes from here.
"""

# ruff: noqa: E402
from __future__ import annotations

import time

# Before every other import, so that nothing Holdfast needs is imported for free.
STARTED_CPU = time.process_time()

import json
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.workload import Message

FOLDED_EVENTS = 200_000
SESSION = "0123456789ab"


class Ours:
    """One session in one store, driven through the whole engine: decide, fold, journal.

    An assistant's message is a round with one call; the answer to the call is the next message.
    """

    async def open(self, folder: Path) -> None:
        """Make a new store in the folder, with one session ready."""
        from bench.driver import opened

        folder.chmod(0o700)
        self._folder = folder
        self._engine, self._journal = await opened(folder / "journal.db")

    async def step(self, message: Message) -> None:
        """Durable (FULL) when it returns."""
        from bench.driver import say_result, say_round

        if message.role == "assistant":
            await say_result(self._engine, message.index, message.text)
        else:
            await say_round(self._engine, message.index, message.text)

    def bytes_on_disk(self) -> int:
        """Database and WAL, live."""
        return sum(
            p.stat().st_size for p in self._folder.glob("journal.db*") if "shm" not in p.name
        )

    async def close(self) -> None:
        """Leave the folder as a clean stop leaves it."""
        await self._journal.close()


def load(folder: Path) -> dict[str, float]:
    """Everything that the next model call needs: the session and the conversation, validated."""
    from holdfast.core.conversation import Conversation
    from holdfast.core.evolve import fold
    from holdfast.core.repair import repair
    from holdfast.core.session import Session
    from holdfast.core.validate import Rules
    from holdfast.engine import memory
    from holdfast.journal.sqlite_store import SqliteStore

    memory.tune()  # as assembly.py does
    imported = time.process_time()
    started, cpu = time.perf_counter(), time.process_time()
    store = SqliteStore(folder / "journal.db")
    copy = store.snapshot(SESSION)
    events = store.events(SESSION, 0)
    session = copy.session if copy else Session(id=SESSION)
    session = fold(session, events[session.seq :])
    conversation = Conversation()
    conversation.extend(events)
    messages, _ = repair(conversation.to_send(), rules=Rules(provider="anthropic"))
    return {
        "import_cpu": imported - STARTED_CPU,
        "load_wall": time.perf_counter() - started,
        "load_cpu": time.process_time() - cpu,
        "messages": len(messages) - 1,  # the prompt that began the run is not one of the counted
    }


def raw(folder: Path) -> dict[str, float]:
    """The yardstick for `load`: the same rows, parsed and not understood."""
    imported = time.process_time()
    started, cpu = time.perf_counter(), time.process_time()
    db = sqlite3.connect(folder / "journal.db")
    rows = db.execute("select key, at, tag, version, body from event order by key").fetchall()
    bodies = [json.loads(row[4]) for row in rows]
    texts = sum(1 for b in bodies if "output" in b or ("text" in b and "offset" not in b))
    return {
        "import_cpu": imported - STARTED_CPU,
        "load_wall": time.perf_counter() - started,
        "load_cpu": time.process_time() - cpu,
        "messages": texts - 2,  # the prompt is there twice: accepted, and in its run
    }


def fold() -> dict[str, float]:
    """A long session's events, decoded already, to the session they add up to."""
    from bench.driver import a_run
    from holdfast.core.evolve import rebuild

    events = a_run(FOLDED_EVENTS)
    started, cpu = time.perf_counter(), time.process_time()
    session = rebuild(SESSION, events)
    wall, used = time.perf_counter() - started, time.process_time() - cpu
    if session.seq != FOLDED_EVENTS:
        raise AssertionError(session.seq)
    return {"events": len(events), "wall": wall, "cpu": used}


def main() -> None:
    """Do what the command line says."""
    from bench.measure import say

    match sys.argv[1:]:
        case ["load", folder]:
            say(**load(Path(folder)))
        case ["raw", folder]:
            say(**raw(Path(folder)))
        case ["fold"]:
            say(**fold())
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
