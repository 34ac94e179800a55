"""10,000 sessions of 100 events: what a start costs when much has been before.

    python -m bench.tenk build FOLDER   make the store
    python -m bench.tenk open FOLDER    open it, find the live sessions, know what each needs
    python -m bench.tenk recover FOLDER write down that each was cut off (once)

Each prints one JSON line. `open` is a new process, so its peak memory is its own.
"""

import sys
from pathlib import Path

SESSIONS = 10_000
EVENTS_EACH = 100
LIVE = 200


def build(folder: Path) -> dict[str, float]:
    """Keys: sessions, live. Written by the journal itself, many sessions to a transaction."""
    from bench.driver import a_run, a_stop
    from holdfast.core.evolve import rebuild
    from holdfast.core.ids import SessionId
    from holdfast.journal import rows
    from holdfast.journal.sqlite_store import SqliteStore
    from holdfast.ports import Batch
    from holdfast.views.sessions import summary

    folder.chmod(0o700)
    store = SqliteStore(folder / "journal.db")
    store.prepare()
    cut_off = tuple(a_run(EVENTS_EACH))
    ended = (*a_run(EVENTS_EACH - 2), *a_stop())
    for first in range(0, SESSIONS, 500):
        with store.transaction(full=False):
            for n in range(first, min(first + 500, SESSIONS)):
                id = SessionId(f"{n:012x}")
                events = cut_off if n % (SESSIONS // LIVE) == 0 else ended
                session = rebuild(id, events)
                lease = store.claim(id, "an:owner:that:is:gone", 1, 1, "")
                batch = Batch(
                    session=id,
                    generation=lease.generation,
                    head=lease.head,
                    at=n,
                    events=events,
                    summary=summary(session),
                    snapshot=session if session.run is None else None,
                )
                store.append(batch, rows.event_rows(batch))
    while store.checkpoint():
        pass
    store.close()
    return {"sessions": SESSIONS, "live": LIVE}


def open_store(folder: Path) -> dict[str, float]:
    """Keys: sessions, live, wall, peak_rss_mb, events_read."""
    import asyncio

    return asyncio.run(_open(folder))


async def _open(folder: Path) -> dict[str, float]:
    from time import perf_counter

    from bench.measure import peak_rss_mb
    from holdfast.journal.sqlite import SqliteJournal

    journal = SqliteJournal(folder / "journal.db")
    started = perf_counter()
    await journal.open()
    found = await journal.live()
    needs = {row.session: (row.summary.run, row.summary.launch, row.summary.queue) for row in found}
    wall = perf_counter() - started
    rss = peak_rss_mb()
    await journal.close()
    return {
        "sessions": SESSIONS,
        "live": len(needs),
        "wall": wall,
        "peak_rss_mb": rss,
        "events_read": 0,
    }


def recover_all(folder: Path) -> dict[str, float]:
    """Writes down that each of them was cut off. Changes the store: once for each build."""
    import asyncio

    return asyncio.run(_recover(folder))


async def _recover(folder: Path) -> dict[str, float]:
    from time import perf_counter

    from bench.driver import engine_over
    from holdfast.engine.outbox import Outbox
    from holdfast.engine.recovery import recover
    from holdfast.journal.sqlite import SqliteJournal

    journal = SqliteJournal(folder / "journal.db")
    await journal.open()
    engine, world = engine_over(journal)
    started = perf_counter()
    found = await recover(engine, Outbox(engine, world))
    wall = perf_counter() - started
    await journal.close()
    return {"recovered": len(found.recovered), "wall": wall}


def main() -> None:
    """Do what the command line says."""
    from bench.measure import say

    match sys.argv[1:]:
        case ["build", folder]:
            say(**build(Path(folder)))
        case ["open", folder]:
            say(**open_store(Path(folder)))
        case ["recover", folder]:
            say(**recover_all(Path(folder)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
