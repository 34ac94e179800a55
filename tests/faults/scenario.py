"""One life of a process that drives sessions: recover, do what the user still wants, until all is done.

What the user wants is a list of commands with fixed input ids, so a life that was cut off is followed
by another that goes on with the same list. Nothing here remembers anything: every life starts from
the journal.
"""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.core.ids import InputId, SessionId
from holdfast.core.session import EffectClass, Session, State, StopReason
from holdfast.core.truth import Workspace
from holdfast.engine.clock import SystemClock
from holdfast.engine.engine import LEASE, Engine
from holdfast.engine.outbox import Outbox
from holdfast.engine.recovery import recover, watch
from holdfast.journal.owner import this_owner
from holdfast.ports import Conflict, Fenced, Held, Journal
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.faults import FaultJournal
from holdfast.testing.script import Reply, Script, ScriptedCall
from holdfast.testing.world import Boundary, FileWorld

PURE, IDEMPOTENT = EffectClass.PURE, EffectClass.IDEMPOTENT
PROBEABLE, UNSAFE = EffectClass.PROBEABLE, EffectClass.UNSAFE

SCRIPT: Script = (
    Reply(
        text="I will look around first. " * 4,
        pieces=3,
        calls=(ScriptedCall(effect=PURE), ScriptedCall(effect=PROBEABLE, files=("a.py",))),
    ),
    Reply(text="Now the rest.", calls=(ScriptedCall(effect=UNSAFE, asks="Run make?"),)),
    Reply(text="Half way.", calls=(ScriptedCall(effect=IDEMPOTENT),), stop=StopReason.TOOL_LIMIT),
    Reply(text="Once more.", calls=(ScriptedCall(effect=UNSAFE), ScriptedCall(effect=PROBEABLE))),
    Reply(text="Done."),
)
PROMPTS = ("first", "second")
PATIENCE = 90.0  # seconds after which a life that gets nowhere is a failure (promise P5)


class Life:
    """One process's worth: an engine over a journal, with agents that die with it."""

    def __init__(
        self,
        journal: Journal,
        folder: Path,
        boundary: Boundary,
        acknowledge: Callable[[str], None],
        lease: int = LEASE,
    ) -> None:
        self.journal = FaultJournal(journal, boundary, acknowledge)
        self.world = FileWorld(folder, boundary)
        self.agents = ScriptedAgents(SCRIPT, self.world)
        self.engine = Engine(
            journal=self.journal,
            clock=SystemClock(),
            agents=self.agents,
            workspaces=self.world,
            owner=this_owner(),
            lease=lease,
        )
        self.outbox = Outbox(self.engine, self.world)
        self.agents.submit = self.world.submit = self.engine.submit
        self._acknowledge = acknowledge

    async def run(self, ids: list[SessionId], *, shared: bool = False) -> None:
        await self.journal.open()
        self.outbox.start()
        watching = asyncio.create_task(watch(self.engine, self.outbox))
        try:
            await recover(self.engine, self.outbox)
            if not shared:
                await self._send_again(ids)
            await asyncio.gather(*(self._drive(id, shared=shared) for id in ids))
        finally:
            watching.cancel()
            await self.outbox.stop()
            await self.agents.stop()
            await self.journal.close()

    async def _send_again(self, ids: list[SessionId]) -> None:
        """A client that was cut off does not know whether it was heard: it says it all again."""
        for id in ids:
            for sent in await self._inputs(id):
                again = i.SendPrompt(input=InputId(sent), text=f"please: {sent}")
                outcome = await self.engine.submit(id, again)
                assert outcome.doubled == f"input:{sent}", outcome

    async def _drive(self, id: SessionId, *, shared: bool) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if await self._next(id):
                    return
            except (Held, Fenced, Conflict, Refused):
                if not shared:
                    raise
                await asyncio.sleep(0.05)  # another process has it; it may die, and then we go on
            await asyncio.sleep(0.002)
        raise AssertionError(f"session {id} does not converge: {await self.engine.session(id)}")

    async def _next(self, id: SessionId) -> bool:
        """Does what the user would do now. True when there is nothing left to do."""
        session = await self.engine.session(id)
        wanted = next_command(session, await self._inputs(id))
        if wanted is not None:
            outcome = await self.engine.submit(id, wanted)
            if isinstance(wanted, i.SendPrompt) and (outcome.events or outcome.doubled):
                self._acknowledge(f"input {id} {wanted.input}")
            return False
        quiet = session.run is None and not await self.journal.owed(id)
        return quiet and finished(session)

    async def _inputs(self, id: SessionId) -> set[str]:
        found = await self.journal.read(id)
        return {r.event.input for r in found if type(r.event).__name__ == "InputAccepted"}


def next_command(session: Session, inputs: set[str]) -> i.Command | None:
    if not session.opened:
        return i.OpenSession(agent="scripted", workspace=Workspace(id="w", path="/w"))
    for prompt in PROMPTS:  # the second one is sent while the first one works
        if prompt not in inputs:
            return i.SendPrompt(input=InputId(prompt), text=f"please: {prompt}")
    if session.decisions:
        return i.AnswerDecision(decision=session.decisions[0].id, answer="yes")
    if session.run is None and not finished(session):
        return i.ContinueRun()
    return None


def finished(session: Session) -> bool:
    last = session.last_stop
    done = last is not None and last.reason is StopReason.COMPLETED
    return done and session.state is State.WAITING_FOR_INPUT and not session.queue


def session_ids(prefix: str, count: int) -> list[SessionId]:
    return [SessionId(f"{prefix}{n:011x}") for n in range(count)]


def live_once(
    make_journal: Callable[[], Journal],
    folder: Path,
    ids: list[SessionId],
    boundary: Boundary,
    *,
    shared: bool = False,
    lease: int = LEASE,
) -> None:
    """A whole life, in this process. What is acknowledged is written down at once."""
    file = os.open(folder / "acks", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def acknowledge(line: str) -> None:
        os.write(file, f"{line} {os.getpid()}\n".encode())

    async def main() -> None:
        life = Life(make_journal(), folder, boundary, acknowledge, lease)
        await life.run(ids, shared=shared)

    asyncio.run(main())
