"""One-shot agents as the engine sees them: a process for each turn, none while idle.

Rule 1: before a process is started, everything of this session's earlier launches is gone (SPEC E8).
Rule 2: the conversation's id is chosen by us where the agent lets us, and written down before the
process begins: a death in the first second loses nothing.
Rule 3: "there" means that the agent's own record of that id is on disk. Reattaching starts nothing.
Rule 4: when a turn is over, whatever it left running is ended before anybody hears that it is over.
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from holdfast.agents.comeback import Comeback, announced
from holdfast.agents.oneshot.output import Process
from holdfast.agents.oneshot.readers import READERS
from holdfast.agents.oneshot.turn import Begun, Turn
from holdfast.agents.profiles.installed import not_installed
from holdfast.agents.profiles.load import Profiles
from holdfast.agents.profiles.profile import Commands, Profile, filled
from holdfast.core import halt
from holdfast.core import inputs as i
from holdfast.core.effects import DeliverPrompt, InterruptAgent, KillAgent, StartAgent
from holdfast.core.ids import CallId, LaunchNumber, SessionId, Token
from holdfast.core.injection import prompt
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe, Spawn
from holdfast.core.session import Call, ErrorClass, Handle, Session, StopReason
from holdfast.ports import Clock, Errand, JournalError

LOG = logging.getLogger(__name__)
Submit = Callable[[SessionId, i.Input], Awaitable[Any]]


class Child(Process, Protocol):
    """A process of ours, and its whole tree."""

    handle: Handle

    def code(self) -> int | None: ...
    def interrupt(self) -> None: ...
    async def exited_within(self, seconds: float) -> bool: ...
    async def end(self) -> Sequence[object]: ...
    def close(self) -> None: ...


class Runtime(Protocol):
    """Where processes come from, and how to be sure that they are gone. See runtimes/piped.py."""

    def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], cookie: str
    ) -> Child: ...
    async def end_of(self, cookie: str, handle: Handle | None) -> Sequence[int] | None: ...


class OneshotAgents:
    def __init__(
        self,
        *,
        profiles: Profiles,
        comeback: Comeback,
        clock: Clock,
        runtime: Runtime,
        quiet: float = 300.0,
    ) -> None:
        self._quiet = quiet
        self._profiles, self._comeback = profiles, comeback
        self._clock, self._runtime = clock, runtime
        self._turns: dict[SessionId, Turn] = {}
        self.submit: Submit  # the engine's, given by whoever puts them together

    def abilities(self, session: Session) -> Abilities:
        known = self._profiles.get(session.agent)
        if known is None or (commands := known.oneshot) is None:
            return Abilities(inject=True, needs_process=False)
        return Abilities(
            native=bool(commands.resume),
            forks=bool(commands.fork),
            forks_at=bool(commands.fork_at),
            inject=True,
            needs_process=False,
        )

    async def start(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, StartAgent)
        handle = Handle(name=_cookie(session.id, effect.launch))
        await self.submit(session.id, i.AgentStarted(launch=effect.launch, handle=handle))
        await self.submit(session.id, i.AgentReady(launch=effect.launch))

    async def deliver(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, DeliverPrompt)
        known = self._turns.get(session.id)
        if known is None or known.launch != effect.launch:
            turn = Turn(effect.launch, quiet=self._quiet)
            self._turns[session.id] = turn
            turn.task = asyncio.create_task(self._play(turn, session, inject=effect.inject))

    async def interrupt(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, InterruptAgent)
        await self._end(session.id, effect.launch, gently=True)
        await self._over(session.id, effect.launch)

    async def kill(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, KillAgent)
        await self._end(session.id, effect.launch, gently=False)
        await self._runtime.end_of(_cookie(session.id, effect.launch), None)
        await self._over(session.id, effect.launch)

    async def answer(self, errand: Errand, session: Session) -> None:
        return  # nobody is there to be answered: a one-shot agent asks nothing

    async def alive(self, session: Session) -> bool | None:
        """A turn lives with whoever reads it. What a dead daemon's left behind is ended here, before
        anybody believes that it is gone."""
        turn = self._turns.get(session.id)
        if turn is not None and session.launch and turn.launch == session.launch.number:
            return True
        left = await self._runtime.end_of(session.id, None)
        return None if left is None else bool(left)

    def rejoin(self, session: Session) -> None:
        return  # it lives with whoever listens to it

    async def there(self, session: Session, token: Token) -> bool | None:
        known = self._profiles.get(session.agent)
        return await self._comeback.there(known, session, token) if known else None

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        return {}

    async def stop(self) -> None:
        """This process is going down: end every turn. What they were at is written by the engine."""
        await asyncio.gather(
            *(self._end(id, turn.launch, gently=False) for id, turn in list(self._turns.items()))
        )

    # --- one turn -----------------------------------------------------------------------------------

    async def _play(self, turn: Turn, session: Session, *, inject: bool) -> None:
        """The journal may fail or be taken over in the middle: then there is nothing more to do."""
        try:
            over = halt.reached(session, elapsed_ms=0)  # of the whole session
            if over is None:
                begun = await self._begin(turn, session, inject=inject)
                report = await turn.play(begun, self._clock.now, _utc_offset_ms())
            else:
                report = halt.halted(session, turn.launch, over)
            await self.submit(session.id, report)
        except JournalError as error:
            LOG.warning("session %s: the run ends here: %s", session.id, error)
        except OSError as error:
            await self._failed(session, f"The agent cannot be started: {error.strerror or error}")
        except Exception as error:
            LOG.exception("session %s: the turn failed", session.id)
            await self._failed(session, f"{type(error).__name__}: {error}")
        finally:
            if self._turns.get(session.id) is turn:
                del self._turns[session.id]
        with contextlib.suppress(JournalError):
            await self._over(session.id, turn.launch)

    async def _begin(self, turn: Turn, session: Session, *, inject: bool) -> Begun:
        known, commands, environ = self._commands(session)
        assert session.run is not None and session.launch is not None
        words = prompt(briefing=session.run.briefing, text=session.run.text)
        token, how = await self._comeback.how(known, session, words)
        resumed = how is Spawn.RESUME_WITH_MESSAGE
        fork = resumed and session.launch.plan.fork
        if not resumed:
            token = Token(str(uuid.uuid4())) if commands.chooses_id else None
        await self._runtime.end_of(session.id, None)
        # A fork is ours when the agent has made it: until then the next try forks again.
        told = announced(session, turn.launch, how, None if fork else token)
        heard = i.Heard(launch=turn.launch, events=told)
        session = (await self.submit(session.id, heard)).session  # with the token, if it is new
        if inject or how is Spawn.FRESH_VISIBLY:
            words = await self._with_history(session, turn.launch, words)

        async def submit(given: i.Input) -> Any:
            return await self.submit(session.id, given)

        process = self._runtime.start(  # from here on nothing may fail: it has to be ended
            _argv(commands, session, token, words, resumed=resumed),
            cwd=session.workspace.path,
            env={**environ, **commands.mode_env.get(session.mode, {})},
            cookie=_cookie(session.id, turn.launch),
        )
        return Begun(
            process=process,
            reader=READERS[commands.format](),
            session=session,
            asked=token if resumed else None,
            fork=fork,
            input=words.encode("utf-8", "replace") if commands.prompt == "stdin" else b"",
            unknown=commands.unknown,
            login=known.login,
            submit=submit,
        )

    def _commands(self, session: Session) -> tuple[Profile, Commands, dict[str, str]]:
        """`OSError`: it cannot even be tried, and what to do about that."""
        known = self._profiles.get(session.agent)
        if known is None or known.oneshot is None:
            raise OSError(f"{session.agent!r} has no one-shot command here")
        if known.oneshot.format not in READERS:
            raise OSError(f"nobody here reads the format {known.oneshot.format!r}")
        if session.mode not in known.oneshot.modes:
            modes = ", ".join(sorted(known.oneshot.modes))
            raise OSError(f"{known.title} cannot be run in mode {session.mode!r}, only in {modes}")
        environ, program = self._comeback.environ(known, session), known.oneshot.start[0]
        path = environ.get("PATH", "")
        missing = not_installed(session.agent, program, path=path, install=known.install)
        if missing:
            raise OSError(missing)
        return known, known.oneshot, environ

    async def _with_history(self, session: Session, launch: LaunchNumber, words: str) -> str:
        """Where the agent has lost its own (SPEC E12)."""
        injected, told = await self._comeback.with_history(session, launch, words)
        await self.submit(session.id, i.Heard(launch=launch, events=(told,)))
        return injected

    # --- ends ---------------------------------------------------------------------------------------

    async def _end(self, id: SessionId, launch: LaunchNumber, *, gently: bool) -> None:
        turn = self._turns.get(id)
        if turn is not None and turn.launch == launch:
            await turn.end(gently=gently)

    async def _over(self, id: SessionId, launch: LaunchNumber) -> None:
        """Whatever became of its run, the launch is."""
        await self.submit(id, i.AgentExited(launch=launch))

    async def _failed(self, session: Session, message: str) -> None:
        assert session.launch is not None and session.run is not None
        finished = i.RunFinished(
            launch=session.launch.number,
            run=session.run.number,
            reason=StopReason.ERROR,
            error=ErrorClass.UNKNOWN,
            message=message,
        )
        with contextlib.suppress(JournalError):
            await self.submit(session.id, finished)


def _argv(
    commands: Commands, session: Session, token: Token | None, words: str, *, resumed: bool
) -> list[str]:
    assert session.launch is not None
    plan = session.launch.plan
    values = {"id": token or "", "prompt": words, "model": session.model}
    values |= {"fork": str(uuid.uuid4()), "at": plan.at or ""}
    copy = commands.fork_at if plan.at else commands.fork
    command = (copy if plan.fork else commands.resume) if resumed else commands.start
    return filled(command, commands, values, mode=session.mode)


def _cookie(id: SessionId, launch: LaunchNumber) -> str:
    return f"{id}:{launch}"


def _utc_offset_ms() -> int:
    return (time.localtime().tm_gmtoff or 0) * 1000
