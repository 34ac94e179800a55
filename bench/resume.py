"""How long a session takes to come back: from "continue" to the first request that the provider gets.

python bench/resume.py: sessions of 50 and of 4,000 messages, the latter also compacted, each with a real
provider's library against a server on loopback. The library is loaded before (its first second is printed
by itself); the session is not: each comes back into a system that has never seen it.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a file, it is not in a package

from bench.workload import messages
from holdfast import config
from holdfast.assembly import System
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.conversation import build
from holdfast.core.ids import CallId, InputId, LaunchNumber, RoundNumber, SessionId
from holdfast.core.session import Call, EffectClass, Evidence, StopReason
from holdfast.testing.model_server import ModelServer

SHORT, LONG = 50, 4000
MODELS = ("anthropic:claude-sonnet-5-5", "openai-chat:gpt-5", "openai:gpt-5")
RUNS, QUICK, TIMES = 5, 150, 2  # ms for a short one; how much longer a long one may take
KEPT = 20  # messages that a compaction leaves as they are


def system(home):
    return System(home, config.load({"HOLDFAST_HOME": str(home), "HOME": str(home)}))


async def silent(errand, session):
    """In place of the agent's loop while a session is made: the benchmark speaks for it."""


async def until(made, id, true):
    while not true(await made.engine.session(id)):  # noqa: ASYNC110  polled, as a stranger would
        await asyncio.sleep(0.01)


async def fill(home, id, model, count, *, compacted):
    made = system(home)
    made._agents.deliver = silent  # noqa: SLF001
    await made.start()
    place = home.parent / f"place{id}"
    place.mkdir()
    await made.open_here(id, place, model, mode="full", limits=Limits(tool_calls=0))
    await made.engine.submit(id, i.SendPrompt(input=InputId("p"), text="go"))
    await until(made, id, lambda s: s.phase != "starting")
    texts = messages()
    for number in range(1, count // 2 + 1):
        await made.engine.submit(id, _round(number, model, next(texts).text, next(texts).text))
    if compacted:
        past = build(await made.engine.journal.events(id))
        cut = past.cut_at(count - KEPT)
        event = e.ConversationCompacted(
            summary="What was done. " * 60, kept_from=cut, tail=past.tail_of(cut)
        )
        await made.engine.submit(id, i.Heard(launch=LaunchNumber(1), events=(event,)))
    session = await made.engine.session(id)
    stopped = i.RunFinished(
        launch=LaunchNumber(1), run=session.run.number, reason=StopReason.ERROR, evidence=Evidence()
    )
    await made.engine.submit(id, stopped)
    await made.stop()


def _round(n, model, text, output):
    number, provider = RoundNumber(n), model.partition(":")[0]
    arguments = '{"path":"a.py"}'
    call = Call(
        id=CallId(f"call_{n}"), name="read", arguments=arguments, effect=EffectClass.PURE, part=1
    )
    finished = e.ResponseFinished(round=number, calls=(call,), model=model, provider=provider)
    events = (e.RoundStarted(round=number), e.TextSaved(round=number, text=text), finished)
    done = e.CallFinished(call=call.id, output=output)
    events += (e.CallIntended(call=call.id), done)
    return i.Heard(launch=LaunchNumber(1), events=events)


async def back(home, id, server):
    """Milliseconds from "continue" to the request, in a system that has just started."""
    made = system(home)
    await made.start()
    count = len(server.asked)
    begun = time.time()
    await made.engine.submit(id, i.ContinueRun())
    asked = await server.wait_for(count + 1)
    await until(made, id, lambda s: s.run is None)
    await made.stop()
    return (asked.at - begun) * 1000


async def measure(model, folder, server):
    kinds = (("50 messages", SHORT, False), ("4,000 compacted", LONG, True))
    kinds += (("4,000 as they are", LONG, False),)
    took = {}
    for n, (name, count, compacted) in enumerate(kinds):
        home = folder / f"home{n}"
        home.mkdir(mode=0o700)
        id = SessionId(f"{n:012x}")
        await fill(home, id, model, count, compacted=compacted)
        times = [await back(home, id, server) for _ in range(RUNS)]
        took[name] = statistics.median(times[1:])
        print(f"  {name:18} {took[name]:6.0f} ms   (first in this process {times[0]:.0f} ms)")
    short, long = took["50 messages"], took["4,000 compacted"]
    print(f"  under {QUICK} ms for the short one: {'ok' if short < QUICK else 'NO'}")
    print(f"  at most {TIMES} x that, compacted: {'ok' if long <= TIMES * short else 'NO'}")


async def main():
    async with ModelServer() as server:
        os.environ |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        os.environ |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{server.url}/v1"}
        for model in MODELS:
            print(model)
            with tempfile.TemporaryDirectory() as name:
                await measure(model, Path(name), server)


if __name__ == "__main__":
    asyncio.run(main())
