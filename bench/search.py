"""How long it takes to look through 1,000 sessions: words that are nowhere, and the figures.

python bench/search.py: fills a journal (25 rounds in each session), then looks for words that none has,
which is the longest look there is, and counts everything, the first time and again.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from holdfast.core import events as e
from holdfast.core.budget import Limits, Usage
from holdfast.core.ids import Millis, SessionId
from holdfast.core.session import Call, Cause, Phase, Stop, StopReason
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports import Batch
from holdfast.server.searching import Searcher
from holdfast.server.tally import Tally
from holdfast.views.sessions import Summary

SESSIONS, ROUNDS, PIECES = 1000, 25, 3
WORDS = "the quick brown fox jumps over the lazy dog and looks for a place to rest, "
OUTPUT = "a line of what a tool printed while it was at work\n" * 40


class Now:
    """All that the tally wants of an engine."""

    def __init__(self, journal):
        self.journal, self.clock = journal, self

    def now(self):
        return Millis(time.time_ns() // 1_000_000)


def story():
    yield e.SessionOpened(agent="builtin", title="a session")
    yield e.InputAccepted(input="i", text="please look for it")
    yield e.RunStarted(run=1, cause=Cause.PROMPT, limits=Limits(), input="i")
    for number in range(1, ROUNDS + 1):
        yield e.RoundStarted(round=number)
        for piece in range(PIECES):
            yield e.TextSaved(round=number, offset=piece * len(WORDS) * 2, text=WORDS * 2)
        call = Call(id=f"c{number}", name="shell", arguments='{"command":"make"}')
        usage = Usage(input_tokens=1000, output_tokens=200, cost_micros=5000)
        yield e.ResponseFinished(round=number, calls=(call,), usage=usage)
        yield e.CallIntended(call=call.id)
        yield e.CallFinished(call=call.id, output=OUTPUT)
    yield e.RunStopped(run=1, stop=Stop(reason=StopReason.INTERRUPTED, phase=Phase.STREAMING_LLM))


async def fill(journal):
    events = tuple(story())
    now = Now(journal).now()
    for n in range(SESSIONS):
        id = SessionId(f"{n:012x}")
        lease = await journal.claim(id, "bench", now=now, ttl=1000)
        await journal.append(
            Batch(
                session=id,
                generation=lease.generation,
                head=lease.head,
                at=now,
                events=events,
                summary=Summary(title="a session"),
                durable=False,
            )
        )


async def timed(what, work):
    begun, cpu = time.perf_counter(), time.process_time()
    await work
    wall, used = time.perf_counter() - begun, time.process_time() - cpu
    print(f"{what:30} {wall * 1000:7.0f} ms, {used * 1000:7.0f} ms CPU")


async def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        journal = SqliteJournal(path)
        await journal.open()
        await fill(journal)
        print(f"{SESSIONS} sessions, {path.stat().st_size / 1e6:.0f} MB")
        searcher = Searcher()
        await timed("words that are nowhere", searcher.search(journal, "wombat", 20))
        await timed("the same again", searcher.search(journal, "wombat", 20))
        await timed("words that are everywhere", searcher.search(journal, "lazy dog", 20))
        tally = Tally()
        await timed("figures, the first time", tally.stats(Now(journal), 30))
        await timed("figures, again", tally.stats(Now(journal), 30))
        await journal.close()


if __name__ == "__main__":
    asyncio.run(main())
