"""The built-in agent as the engine sees it: a loop in this process, which dies with it.

It needs no process while it is idle. A run is one task; its launch is over when the run is.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from holdfast.agents.builtin.coder import Helper
from holdfast.agents.builtin.loop import Loop
from holdfast.agents.builtin.model import Model, ModelFailed
from holdfast.agents.builtin.prompt import CODER, ROLE, system_prompt
from holdfast.agents.builtin.seam import Keep, Toolbox
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.conversation import Conversation
from holdfast.core.effects import DeliverPrompt, InterruptAgent, KillAgent, RelayAnswer, StartAgent
from holdfast.core.ids import CallId, LaunchNumber, Seq, SessionId, Token
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe
from holdfast.core.session import Call, ErrorClass, Session, StopReason
from holdfast.ports import Clock, Errand, Journal, JournalError

LOG = logging.getLogger(__name__)
ABILITIES = Abilities(replay=True, needs_process=False, probes=True)


class Outcome(Protocol):
    @property
    def session(self) -> Session: ...
    @property
    def events(self) -> tuple[e.Event, ...]: ...


Submit = Callable[[SessionId, i.Input], Awaitable[Outcome]]
Sweep = Callable[[str], Awaitable[object]]  # ends every process that carries this cookie
Prober = Callable[[Session, Call], Awaitable[Probe]]


class Working(NamedTuple):
    launch: LaunchNumber
    task: asyncio.Task[None]
    loop: asyncio.Future[Loop | None]  # None: it could not be put together


class BuiltinAgents:
    def __init__(
        self,
        *,
        journal: Journal,
        clock: Clock,
        models: Callable[[Session], Model],
        toolbox: Callable[[Session], Toolbox],
        coders: Callable[[Session], Toolbox],
        prober: Prober,
        sweep: Sweep,
        secrets: Callable[[SessionId], frozenset[str]],
        window: int,
        keep: Keep,
    ) -> None:
        self._journal, self._clock, self._models = journal, clock, models
        self._toolbox, self._prober, self._sweep = toolbox, prober, sweep
        self._secrets, self._coders, self._window = secrets, coders, window
        self._keep = keep
        self._loops: dict[SessionId, Working] = {}
        self.submit: Submit  # the engine's, given by whoever puts them together

    def abilities(self, session: Session) -> Abilities:
        return ABILITIES

    async def start(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, StartAgent)
        await self.submit(session.id, i.AgentStarted(launch=effect.launch))
        await self.submit(session.id, i.AgentReady(launch=effect.launch))

    async def deliver(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, DeliverPrompt)
        known = self._loops.get(session.id)
        if known is None or known.launch != effect.launch:
            loop: asyncio.Future[Loop | None] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._work(session, loop))
            self._loops[session.id] = Working(effect.launch, task, loop)

    async def interrupt(self, errand: Errand, session: Session) -> None:
        assert isinstance(errand.effect, InterruptAgent)
        await self._end(session.id, errand.effect.launch)

    async def kill(self, errand: Errand, session: Session) -> None:
        assert isinstance(errand.effect, KillAgent)
        await self._end(session.id, errand.effect.launch)
        await self.submit(session.id, i.AgentExited(launch=errand.effect.launch))

    async def answer(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, RelayAnswer)
        known = self._loops.get(session.id)
        loop = await known.loop if known is not None else None
        if loop is not None:
            loop.answered(effect.decision, effect.answer, session)

    async def alive(self, session: Session) -> bool | None:
        """A loop lives in the process that has it. What a command of a dead one left behind is
        ended here, before anybody believes that it is gone."""
        known = self._loops.get(session.id)
        current = session.launch.number if session.launch else None
        if known is not None and known.launch == current and not known.task.done():
            return True
        await self._sweep(session.id)
        return False

    def rejoin(self, session: Session) -> None:
        return  # it lives with whoever listens to it

    async def there(self, session: Session, token: Token) -> bool | None:
        return True  # our own journal has the conversation

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        return {call.id: await self._prober(session, call) for call in calls}

    async def stop(self) -> None:
        """This process is going down: end every loop. What they were at is written by the engine."""
        for id in list(self._loops):
            await self._end(id, None)

    async def _end(self, id: SessionId, launch: LaunchNumber | None) -> None:
        known = self._loops.get(id)
        if known is None or (launch is not None and known.launch != launch):
            return
        known.task.cancel()
        await asyncio.wait({known.task})
        if not known.loop.done():  # ended before it had begun
            known.loop.set_result(None)
        if self._loops.get(id) is known:
            del self._loops[id]

    async def _work(self, session: Session, ready: asyncio.Future[Loop | None]) -> None:
        """The journal may fail or be taken over in the middle: then there is nothing more to do."""
        try:
            loop = await self._loop(session)
            ready.set_result(loop)
            await loop.play()
        except JournalError as error:
            LOG.warning("session %s: the run ends here: %s", session.id, error)
        except ModelFailed as failed:
            await self._failed(session, failed.error, failed.message)
        except Exception as error:
            LOG.exception("session %s: the loop failed", session.id)
            await self._failed(session, ErrorClass.UNKNOWN, f"{type(error).__name__}: {error}")
        finally:
            if not ready.done():
                ready.set_result(None)
            known = self._loops.get(session.id)
            if known is not None and known.task is asyncio.current_task():
                del self._loops[session.id]

    async def _loop(self, session: Session) -> Loop:
        model, tools = self._models(session), self._toolbox(session)
        before_tail = Seq(max(session.tail - 1, 0))

        async def written() -> Conversation:
            found = Conversation(before_tail)
            found.extend(await self._journal.events(session.id, after=before_tail))
            return found

        async def submit(given: i.Input) -> tuple[Session, tuple[e.Event, ...]]:
            outcome = await self.submit(session.id, given)
            return outcome.session, outcome.events

        today = datetime.fromtimestamp(self._clock.now() / 1000, UTC).date().isoformat()
        place = Path(session.workspace.path)

        async def prompt(tools: Toolbox, role: str) -> str:
            names = [schema.name for schema in tools.schemas()]
            return await asyncio.to_thread(
                system_prompt, workspace=place, tools=names, today=today, role=role
            )

        coders = self._coders(session)
        return Loop(
            session,
            await written(),
            submit=submit,
            model=model,
            tools=tools,
            system=await prompt(tools, ROLE),
            coder=Helper(system=await prompt(coders, CODER), tools=coders),
            clock=self._clock,
            secrets=self._secrets(session.id),
            window=self._window,
            written=written,
            keep=self._keep,
        )

    async def _failed(self, session: Session, error: ErrorClass, message: str) -> None:
        assert session.launch is not None and session.run is not None
        finished = i.RunFinished(
            launch=session.launch.number,
            run=session.run.number,
            reason=StopReason.ERROR,
            error=error,
            message=message,
        )
        await self.submit(session.id, finished)
