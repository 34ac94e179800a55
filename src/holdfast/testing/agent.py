"""A scripted agent that works as the built-in one does: intent, acknowledgement, effect, result.

It lives in this process and dies with it. What it does to the world goes through `World`, which
outlives it, so that what really happened can be compared with what the journal says.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.effects import DeliverPrompt, InterruptAgent, KillAgent
from holdfast.core.ids import CallId, DecisionId, LaunchNumber, RoundNumber, SessionId, Token
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe
from holdfast.core.session import Call, CallStatus, Decision, OpenCall, Session, StopReason
from holdfast.engine.engine import Outcome
from holdfast.ports import Errand, JournalError
from holdfast.testing.script import Reply, Script, ScriptedCall

Submit = Callable[[SessionId, i.Input], Awaitable[Outcome]]


class World(Protocol):
    """Where calls have their effect. Outlives the process."""

    async def effect(self, session: SessionId, call: CallId, attempt: int) -> None: ...
    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]: ...


class ScriptedAgents:
    def __init__(self, script: Script, world: World, *, process: bool = False) -> None:
        self._script, self._world = script, world
        self._abilities = Abilities(replay=not process, needs_process=process, native=process)
        self._tasks: dict[tuple[SessionId, int, int], asyncio.Task[None]] = {}  # launch, run
        self._answers: dict[tuple[SessionId, DecisionId], asyncio.Event] = {}
        self.submit: Submit  # given by whoever builds the engine
        self.refused = 0  # intents that the journal did not take

    def abilities(self, _session: Session) -> Abilities:
        return self._abilities

    async def start(self, errand: Errand, session: Session) -> None:
        launch = session.launch
        assert launch is not None
        await self.submit(session.id, i.AgentStarted(launch=launch.number))
        token = Token(f"token-{launch.number}") if self._abilities.needs_process else None
        await self.submit(session.id, i.AgentReady(launch=launch.number, token=token))

    async def deliver(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, DeliverPrompt)
        key = (session.id, effect.launch, effect.run)
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._work(session))

    async def interrupt(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, InterruptAgent)
        await self._end(session.id, effect.launch)
        finished = i.RunFinished(launch=effect.launch, run=effect.run, reason=StopReason.CANCELLED)
        await self.submit(session.id, finished)

    async def kill(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, KillAgent)
        await self._end(session.id, effect.launch)
        await self.submit(session.id, i.AgentExited(launch=effect.launch, signal=9))

    async def answer(self, errand: Errand, session: Session) -> None:
        for key, event in self._answers.items():
            if key[0] == session.id:
                event.set()

    async def alive(self, session: Session) -> bool | None:
        launch = session.launch.number if session.launch else 0
        mine = (t for key, t in self._tasks.items() if key[:2] == (session.id, launch))
        return any(not task.done() for task in mine)

    def rejoin(self, session: Session) -> None:
        return  # it lives with whoever listens to it

    async def there(self, session: Session, token: Token) -> bool | None:
        return True

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        return await self._world.probe(session, calls)

    async def _end(self, id: SessionId, launch: LaunchNumber | None = None) -> None:
        for key, task in list(self._tasks.items()):
            if key[0] == id and launch in (None, key[1]):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                del self._tasks[key]

    async def stop(self) -> None:
        for id in {key[0] for key in self._tasks}:
            await self._end(id)

    # --- one run --------------------------------------------------------------------------------

    async def _work(self, session: Session) -> None:
        """The journal may fail or be taken over in the middle: then there is nothing more to do."""
        with contextlib.suppress(JournalError):
            await _Run(self, session).play()


class _Run:
    def __init__(self, agents: ScriptedAgents, session: Session) -> None:
        assert session.launch is not None and session.run is not None
        self._agents = agents
        self._session = session
        self._launch: LaunchNumber = session.launch.number
        self._number = session.run.number

    async def play(self) -> None:
        for open_call in self._session.calls:  # those that were decided to be run again
            if open_call.status is CallStatus.PENDING and not await self._call(open_call, None):
                return None
        while True:
            n = self._session.responses
            if n >= len(self._agents._script):
                return await self._finish(StopReason.COMPLETED)
            reply = self._agents._script[n]
            if not await self._round(reply):
                return None
            if reply.stop is not None:
                return await self._finish(reply.stop)

    async def _round(self, reply: Reply) -> bool:
        number = RoundNumber(self._session.round + 1)
        if not await self._say(e.RoundStarted(round=number)):
            return False
        size = max(len(reply.text) // max(reply.pieces, 1), 1)
        for offset in range(0, len(reply.text), size):
            piece = reply.text[offset : offset + size]
            if not await self._say(e.TextSaved(round=number, text=piece, offset=offset)):
                return False
        calls = tuple(
            Call(
                id=CallId(f"c{self._session.responses}.{k}"),
                name=c.name,
                effect=c.effect,
                arguments=c.arguments,
                files=c.files,
                part=k + 1,
            )
            for k, c in enumerate(reply.calls)
        )
        if not await self._say(e.ResponseFinished(round=number, calls=calls)):
            return False
        for scripted, open_call in zip(reply.calls, self._session.calls, strict=True):
            if not await self._call(open_call, scripted):
                return False
        return True

    async def _call(self, open_call: OpenCall, scripted: ScriptedCall | None) -> bool:
        call, attempt = open_call.call, open_call.attempt + 1
        if scripted is not None and scripted.asks is not None:
            await self._ask(DecisionId(f"d-{call.id}"), scripted.asks, call.id)
        if not await self._say(e.CallIntended(call=call.id, attempt=attempt)):
            self._agents.refused += 1
            return False
        await self._agents._world.effect(self._session.id, call.id, attempt)
        output = scripted.output if scripted else "ok"
        return await self._say(e.CallFinished(call=call.id, attempt=attempt, output=output))

    async def _ask(self, id: DecisionId, text: str, call: CallId) -> None:
        answered = self._agents._answers.setdefault((self._session.id, id), asyncio.Event())
        decision = Decision(id=id, kind="permission", text=text, options=("yes", "no"), call=call)
        if await self._say(e.DecisionAsked(decision=decision)):
            await answered.wait()

    async def _say(self, event: i.Reportable) -> bool:
        """True if it was written down. Nothing is done that was not."""
        heard = i.Heard(launch=self._launch, events=(event,))
        outcome = await self._agents.submit(self._session.id, heard)
        self._session = outcome.session
        return bool(outcome.events)  # perhaps cut or scrubbed, so not always what was said

    async def _finish(self, reason: StopReason) -> None:
        finished = i.RunFinished(launch=self._launch, run=self._number, reason=reason)
        await self._agents.submit(self._session.id, finished)
