"""The public library: an agent that survives `kill -9`, without the daemon.

    from holdfast import Agent, tool

    agent = Agent(model="scripted:plan.jsonl", workspace=".")
    result = await agent.run("make the tests pass", session_id="fix")
    # killed half-way? The same call carries on:
    result = await agent.run(None, session_id="fix", is_resume=True)

It takes the same leases on the same store as the daemon: two owners of one session are impossible,
whoever comes.
"""

import asyncio
import hashlib
import inspect
import os
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from holdfast import config
from holdfast.assembly import Context, System, Tool, ToolResult
from holdfast.client import keys
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits, Usage
from holdfast.core.conversation import build
from holdfast.core.errors import Refused
from holdfast.core.ids import InputId, Seq, SessionId
from holdfast.core.messages import AssistantMessage
from holdfast.core.session import PERMISSION, Decision, EffectClass, Session, Stop
from holdfast.core.value import Value
from holdfast.engine.granting import begun
from holdfast.wire import NewSession

Function = Callable[..., Awaitable[str] | str]
Answering = Callable[[Decision], Awaitable[str] | str]
TITLE = 80


class Result(Value):
    """How a run ended."""

    session_id: str
    text: str  # what the agent said last
    stop: Stop
    usage: Usage
    workspace: str

    @property
    def completed(self) -> bool:
        return self.stop.reason == "completed"


def tool(effect: str = "unsafe", *, name: str | None = None) -> Callable[[Function], Tool]:
    """Makes a function a tool. Its parameters are the arguments, its docstring is for the model.

    `effect` says what may be done about a call whose result nobody saw: `pure` and `idempotent` ones
    are run again, an `unsafe` one is not. What it raises is told to the model. One that is not `async`
    runs in a thread: nobody else waits for it.
    """

    def made(function: Function) -> Tool:
        fields = [
            (p.name, p.annotation) if p.default is p.empty else (p.name, p.annotation, p.default)
            for p in inspect.signature(function, eval_str=True).parameters.values()
        ]
        called = name or function.__name__
        arguments = msgspec.defstruct(called, fields, forbid_unknown_fields=True, kw_only=True)

        async def run(given: Any, _context: Context) -> ToolResult:
            values = {f: getattr(given, f) for f in given.__struct_fields__}
            try:
                said = await _called(function, values)
            except Exception as error:  # noqa: BLE001  whatever it is, the model can go on from it
                return ToolResult(output=f"{type(error).__name__}: {error}", failed=True)
            return ToolResult(output=str(said))

        return Tool(
            name=called,
            description=inspect.getdoc(function) or called,
            arguments=arguments,
            effect=EffectClass(effect),
            function=run,
        )

    return made


async def _called(function: Function, values: dict[str, Any]) -> str:
    if inspect.iscoroutinefunction(function):
        said: str = await function(**values)
        return said
    answer = await asyncio.to_thread(function, **values)
    return await answer if inspect.isawaitable(answer) else answer


def nobody(asked: Decision) -> str:
    """The answer where nobody was named to give one."""
    return "no" if asked.kind == PERMISSION else "Nobody is here to answer: decide yourself."


class Agent:
    """`model`, `mode` and `limits` that are left out are the configuration's for a session that is
    made, and for one that is there its own. `on_question` answers what the agent may not decide."""

    def __init__(
        self,
        *,
        model: str = "",
        workspace: str | Path = ".",
        mode: str | None = None,
        tools: tuple[Tool, ...] = (),
        limits: Limits | None = None,
        on_question: Answering = nobody,
        home: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._model, self._mode, self._limits = model, mode, limits
        self._workspace, self._tools = Path(workspace).resolve(), tools
        self._on_question = on_question
        self._environ = {**os.environ, **(environ or {})}
        if home is not None:
            self._environ["HOLDFAST_HOME"] = str(home)

    async def run(
        self, prompt: str | None, *, session_id: str | None = None, is_resume: bool = False
    ) -> Result:
        """To the run's stop. `is_resume` continues what was cut off; a prompt may come with it."""
        async with aclosing(self._play(prompt, session_id, is_resume=is_resume)) as items:
            async for item in items:
                if isinstance(item, Result):
                    return item
        raise AssertionError("a run ends with its result")

    async def stream(
        self, prompt: str | None, *, session_id: str | None = None, is_resume: bool = False
    ) -> AsyncIterator[e.Event]:
        """The same, event by event as they are written down."""
        async with aclosing(self._play(prompt, session_id, is_resume=is_resume)) as items:
            async for item in items:
                if not isinstance(item, Result):
                    yield item

    async def _play(
        self, prompt: str | None, session_id: str | None, *, is_resume: bool
    ) -> AsyncGenerator[e.Event | Result, None]:
        settings = config.load(self._environ)
        config.prepare(settings.home)
        system = System(settings.home, settings, tools=self._tools)
        await system.start()
        try:
            id = name_of(session_id)
            environ = keys(self._environ)
            system.lend(id, environ)
            before = await system.engine.session(id)
            wanted = NewSession(
                folder=str(self._workspace),
                model=self._model,
                mode=self._mode,
                title=" ".join((session_id or prompt or "").split())[:TITLE],
                environ=environ,
            )
            await system.opening.open_here(wanted, id, self._limits or Limits())
            await self._begin(system, id, prompt, is_resume=is_resume)
            async for item in self._follow(system, id, Seq(before.seq)):
                yield item
        finally:
            await system.stop()

    async def _begin(
        self, system: System, id: SessionId, prompt: str | None, *, is_resume: bool
    ) -> None:
        given: i.Command = i.ContinueRun(message=prompt, limits=self._limits)
        if not is_resume and prompt is None:
            raise Refused("There is nothing to do: give a prompt, or is_resume=True.")
        if not is_resume and prompt is not None:
            input = InputId(secrets.token_hex(8))
            given = i.SendPrompt(input=input, text=prompt, limits=self._limits)
        await begun(system.engine, await system.engine.submit(id, given))

    async def _follow(
        self, system: System, id: SessionId, after: Seq
    ) -> AsyncIterator[e.Event | Result]:
        engine = system.engine
        while True:
            for recorded in await engine.read(id, after=after):
                after = recorded.seq
                yield recorded.event
            session = await engine.session(id)
            if session.run is None and session.seq == after:
                yield _result(session, await engine.journal.events(id))
                return
            if session.run is not None and session.decisions:
                await self._answer(system, session)
                continue
            await engine.feed.wait(id, after)

    async def _answer(self, system: System, session: Session) -> None:
        """Nobody else can: whoever runs a session is the only one who writes it."""
        asked = session.decisions[0]
        said = self._on_question(asked)
        answer = await said if inspect.isawaitable(said) else said
        given = i.AnswerDecision(decision=asked.id, answer=answer, by="library")
        await system.engine.submit(session.id, given)


def _result(session: Session, past: list[e.Event]) -> Result:
    said = [m.text for m in build(past).messages() if isinstance(m, AssistantMessage) and m.text]
    assert session.last_stop is not None
    return Result(
        session_id=session.id,
        text=said[-1] if said else "",
        stop=session.last_stop,
        usage=session.totals,
        workspace=session.workspace.path,
    )


def name_of(session_id: str | None) -> SessionId:
    """A session's id is 12 hexadecimal digits; any other name stands for the same one every time."""
    if session_id is None:
        return SessionId(secrets.token_hex(6))
    if re.fullmatch(r"[0-9a-f]{12}", session_id):
        return SessionId(session_id)
    return SessionId(hashlib.sha256(session_id.encode()).hexdigest()[:12])
