"""Agents that speak ACP, as the engine sees them: one process per launch, which dies with us.

Nothing is decided here about resuming: the plan in the launch says how the context comes back, and the
core says what follows from what the agent answers.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from holdfast.agents.acp.peer import Peer, Process
from holdfast.agents.acp.profile import AcpProfile, McpServer, Waits
from holdfast.agents.profiles.installed import not_installed
from holdfast.core import events as e
from holdfast.core import injection
from holdfast.core import inputs as i
from holdfast.core.conversation import build
from holdfast.core.effects import DeliverPrompt, InterruptAgent, KillAgent, RelayAnswer, StartAgent
from holdfast.core.ids import CallId, Millis, RunNumber, SessionId, Token
from holdfast.core.messages import UserMessage
from holdfast.core.plan import Abilities, Strategy
from holdfast.core.quirks import load_not_before
from holdfast.core.resume import Probe
from holdfast.core.session import Call, Handle, Session, StopReason
from holdfast.ports import Clock, Errand, Journal

LOG = logging.getLogger(__name__)
# What an agent can do is known once it came up. Before, it is asked; it then says itself what it cannot.
UNTRIED = Abilities(acp_resume=True, acp_load=True, forks=True, inject=True)
Submit = Callable[[SessionId, i.Input], Awaitable[Any]]


class Start(Protocol):
    """Starts a process; OSError if it cannot. See runtimes."""

    def __call__(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], cookie: str
    ) -> Process: ...


# Ends what is left of a launch by its cookie and handle: who would not die; None: nobody can tell.
EndOf = Callable[[str, Handle | None], Awaitable[tuple[int, ...] | None]]


class AcpAgents:
    def __init__(
        self,
        *,
        journal: Journal,
        clock: Clock,
        profiles: Callable[[Session], AcpProfile | None],
        start: Start,
        end_of: EndOf,
        servers: tuple[McpServer, ...] = (),
        waits: Waits = Waits(),  # noqa: B008  a value
    ) -> None:
        self._journal, self._clock, self._profiles = journal, clock, profiles
        self._start, self._end_of, self._servers, self._waits = start, end_of, servers, waits
        self._peers: dict[SessionId, Peer] = {}
        self.submit: Submit  # the engine's, given by whoever puts them together

    def abilities(self, session: Session) -> Abilities:
        known = session.launch.abilities if session.launch else None
        return known or UNTRIED

    async def start(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, StartAgent)
        known = self._peer(session.id)
        if known is not None and known.launch == effect.launch:
            return
        if known is not None:
            await known.end()
        await self._end_of(session.id, None)  # no two processes of one conversation (SPEC E8)
        profile = self._profiles(session)
        problem = _problem(session, profile)
        if problem or profile is None:
            await self.submit(session.id, i.StartFailed(message=problem))
            return
        cookie = f"{session.id}:{effect.launch}"
        try:
            process = self._start(
                profile.command, cwd=session.workspace.path, env=profile.environ, cookie=cookie
            )
        except OSError as error:
            why = f"{profile.command[0]} could not be started: {error.strerror or error}."
            await self.submit(session.id, i.StartFailed(message=why))
            return
        await self._talk(process, session, effect, profile)

    async def _talk(
        self, process: Process, session: Session, effect: StartAgent, profile: AcpProfile
    ) -> None:
        async def submit(given: i.Input) -> Any:
            return await self.submit(session.id, given)

        peer = Peer(
            process,
            session,
            effect.launch,
            profile=profile,
            servers=self._servers,
            submit=submit,
            clock=self._clock,
            waits=self._waits,
        )
        self._peers[session.id] = peer
        await peer.open()
        # How to find it again is written down before anything is said to it.
        outcome = await submit(i.AgentStarted(launch=effect.launch, handle=process.handle))
        if not outcome.events:  # called off meanwhile
            await peer.end()
            return
        sent = await self._unanswered(session, effect)
        peer.come_up(sent, not_before=await self._not_before(session, profile))

    async def _not_before(self, session: Session, profile: AcpProfile) -> Millis:
        """When its conversation may be asked for."""
        if not profile.quirks or session.token is None:
            return Millis(0)
        named = await self._journal.pick(session.id, (e.TokenLearned,))
        return load_not_before(profile.quirks, named[-1].at if named else Millis(0))

    async def _unanswered(self, session: Session, effect: StartAgent) -> str:
        """The last prompt of an earlier launch, if its turn did not come to an end."""
        last = session.last_stop
        whole = last is None or last.reason is StopReason.COMPLETED
        if whole or effect.plan.strategy is not Strategy.ACP_LOAD:
            return ""
        events = await self._journal.events(session.id)
        sent = [event.run for event in events if isinstance(event, e.PromptDelivered)]
        turns = {m.run: m for m in build(events).messages() if isinstance(m, UserMessage)}
        turn = turns.get(sent[-1]) if sent else None
        return injection.prompt(briefing=turn.briefing, text=turn.text) if turn else ""

    async def deliver(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, DeliverPrompt)
        peer = self._peer(session.id)
        if peer is None or peer.launch != effect.launch or session.run is None:
            return
        text = injection.prompt(briefing=session.run.briefing, text=session.run.text)
        if peer.lost_prompt:
            text, peer.lost_prompt = f"{peer.lost_prompt}\n\n{text}", ""
        words = len(text)
        if effect.inject:
            text = injection.inject(await self._history(session.id, effect.run), text)
        await peer.prompt(session, text, injected=len(text) - words)

    async def _history(self, id: SessionId, run: RunNumber) -> Any:
        messages = build(await self._journal.events(id)).messages()
        return injection.before(messages, run)

    async def interrupt(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, InterruptAgent)
        peer = self._peer(session.id)
        if peer is not None and peer.launch == effect.launch:
            peer.cancel(effect.run)

    async def kill(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, KillAgent)
        peer = self._peers.get(session.id)
        if peer is not None and peer.launch == effect.launch:
            await peer.end()
            del self._peers[session.id]
        await self._end_of(f"{session.id}:{effect.launch}", None)
        await self.submit(session.id, i.AgentExited(launch=effect.launch))

    async def answer(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, RelayAnswer)
        peer = self._peer(session.id)
        if peer is not None and peer.launch == effect.launch:
            peer.answer(effect.decision, effect.answer)

    async def alive(self, session: Session) -> bool | None:
        """A process lives with us or not at all: without us nobody can talk to it. What is left of an
        earlier life is ended here, before anybody believes that it is gone."""
        peer, launch = self._peer(session.id), session.launch
        if peer is not None and launch is not None and peer.launch == launch.number:
            return True
        left = await self._end_of(session.id, launch.handle if launch else None)
        return None if left is None or left else False

    def rejoin(self, session: Session) -> None:
        return  # it lives with whoever listens to it

    async def there(self, session: Session, token: Token) -> bool | None:
        return None  # only a process could say, and asking starts none

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        return {}  # it ran them by itself, and does not say what became of them

    async def stop(self) -> None:
        peers, self._peers = list(self._peers.values()), {}
        for peer in peers:
            await peer.end()

    def _peer(self, id: SessionId) -> Peer | None:
        """The one that can be talked to."""
        peer = self._peers.get(id)
        if peer is not None and peer.gone:
            del self._peers[id]
            return None
        return peer


def _problem(session: Session, profile: AcpProfile | None) -> str:
    """Why it cannot even be tried: what is wrong, and what to do."""
    if profile is None:
        return f"There is no agent {session.agent!r} that speaks ACP: see `hold agent ls`."
    program, path = profile.command[0], profile.environ.get("PATH", "")
    missing = not_installed(session.agent, program, path=path, install=profile.install)
    if missing:
        return missing
    if not Path(session.workspace.path).is_dir():
        return f"The workspace {session.workspace.path} is gone."
    return ""
