"""A session as the engine sees it, for the benchmarks: rounds with one call each."""

import tempfile
from pathlib import Path

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.ids import CallId, InputId, LaunchNumber, RoundNumber, RunNumber, SessionId
from holdfast.core.plan import Plan, Strategy
from holdfast.core.session import Call, Cause, EffectClass, Stop, StopReason
from holdfast.core.truth import Workspace
from holdfast.engine.clock import SystemClock
from holdfast.engine.engine import Engine
from holdfast.engine.outbox import Outbox
from holdfast.journal.owner import this_owner
from holdfast.journal.sqlite import SqliteJournal
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.world import FileWorld

SESSION = SessionId("0123456789ab")
ONE = LaunchNumber(1)
PLAIN = Workspace(git=False)


class SilentAgents(ScriptedAgents):
    """Comes up and says nothing: the benchmark speaks for it."""

    async def deliver(self, errand: object, session: object) -> None:
        return


def engine_over(journal: SqliteJournal) -> tuple[Engine, FileWorld]:
    world = FileWorld(Path(tempfile.gettempdir()))
    agents = SilentAgents((), world)
    engine = Engine(
        journal=journal, clock=SystemClock(), agents=agents, workspaces=world, owner=this_owner()
    )
    agents.submit = world.submit = engine.submit
    return engine, world


async def opened(path: Path) -> tuple[Engine, SqliteJournal]:
    """A session whose run has begun."""
    journal = SqliteJournal(path)
    await journal.open()
    engine, world = engine_over(journal)
    outbox = Outbox(engine, world)
    await engine.submit(SESSION, i.OpenSession(agent="bench", workspace=PLAIN))
    await engine.submit(SESSION, i.SendPrompt(input=InputId("p"), text="go"))
    await outbox.idle()
    return engine, journal


def _round(index: int, text: str) -> tuple[i.Reportable, ...]:
    number = RoundNumber(index // 2 + 1)
    call = Call(id=CallId(f"c{number}"), name="read", effect=EffectClass.PURE, part=1)
    return (
        e.RoundStarted(round=number),
        e.TextSaved(round=number, text=text),
        e.ResponseFinished(round=number, calls=(call,)),
        e.CallIntended(call=call.id),
    )


async def say_round(engine: Engine, index: int, text: str) -> None:
    await engine.submit(SESSION, i.Heard(launch=ONE, events=_round(index, text)))


async def say_result(engine: Engine, index: int, text: str) -> None:
    done = e.CallFinished(call=CallId(f"c{index // 2 + 1}"), output=text)
    await engine.submit(SESSION, i.Heard(launch=ONE, events=(done,)))


def a_run(count: int) -> list[e.Event]:
    """The first `count` events of a long run."""
    plan = Plan(strategy=Strategy.REPLAY)
    events: list[e.Event] = [
        e.SessionOpened(agent="bench", title="A session", workspace=PLAIN),
        e.InputAccepted(input=InputId("p"), text="go"),
        e.RunStarted(run=RunNumber(1), cause=Cause.PROMPT, limits=Limits(), text="go", plan=plan),
        e.LaunchRequested(launch=ONE, plan=plan),
        e.LaunchReady(launch=ONE),
        e.PromptDelivered(run=RunNumber(1), launch=ONE),
    ]
    index = 0
    while len(events) < count:
        events += _round(index, "a few words of what was found" * 4)
        events.append(e.CallFinished(call=CallId(f"c{index // 2 + 1}"), output="ok " * 40))
        index += 2
    return events[:count]


def a_stop() -> tuple[e.Event, ...]:
    stop = Stop(reason=StopReason.COMPLETED)
    return e.RunStopped(run=RunNumber(1), stop=stop), e.LaunchExited(launch=ONE)
