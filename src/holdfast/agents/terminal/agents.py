"""Agents in terminals as the engine sees them: one program per launch, which lives on without us (G1).

Rule 1: before a program is started, everything of this session's earlier launches is gone (SPEC E8).
Rule 2: a prompt that waits goes to a fresh program as its argument. So such a program is started when the
prompt is handed over, not before: the journal says first that it was.
Rule 3: how to find it again is written down before it exists: its name follows from session and launch.
Rule 4: found again, it is listened to from the mark of its last prompt on (`rejoin`).
"""

import asyncio
import contextlib
import json
import logging
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.agents.comeback import Comeback, announced
from holdfast.agents.profiles.load import Profiles
from holdfast.agents.profiles.profile import filled, without_prompt
from holdfast.agents.terminal import hands, place
from holdfast.agents.terminal.hooks import write_settings
from holdfast.agents.terminal.known import Known, known_of, manner_of, problem_of
from holdfast.agents.terminal.manner import Waits
from holdfast.agents.terminal.place import Mark, Marks
from holdfast.agents.terminal.seam import Terminals
from holdfast.agents.terminal.seat import Seat
from holdfast.core import inputs as i
from holdfast.core.effects import DeliverPrompt, InterruptAgent, KillAgent, RelayAnswer, StartAgent
from holdfast.core.ids import CallId, LaunchNumber, SessionId, Token
from holdfast.core.injection import prompt
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe, Spawn
from holdfast.core.session import Call, Handle, Phase, Session
from holdfast.ports import Clock, Errand, JournalError

LOG = logging.getLogger(__name__)
LONGEST = 100_000  # bytes of one argument, with room to the system's own limit
Submit = Callable[[SessionId, i.Input], Awaitable[Any]]


class TerminalAgents:
    def __init__(
        self,
        *,
        profiles: Profiles,
        comeback: Comeback,
        clock: Clock,
        terminals: Terminals,
        folder: Path,
        waits: Waits = Waits(),  # noqa: B008  a value
    ) -> None:
        self._profiles, self._comeback, self._clock = profiles, comeback, clock
        self._terminals, self._marks, self._waits = terminals, Marks(folder), waits
        self._seats: dict[SessionId, Seat] = {}
        # Whoever looks for a launch ends what is left of it: not while it is being made.
        self._doors: defaultdict[SessionId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._rising: set[asyncio.Task[None]] = set()
        self._joining: dict[SessionId, asyncio.Task[None]] = {}
        self.submit: Submit  # the engine's, given by whoever puts them together

    def abilities(self, session: Session) -> Abilities:
        known = self._profiles.get(session.agent)
        native = known is not None and known.terminal is not None and bool(known.terminal.resume)
        return Abilities(native=native, inject=True, survives_daemon=True)

    # --- coming up ----------------------------------------------------------------------------------

    async def start(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, StartAgent)
        problem = problem_of(self._profiles, self._comeback, session, self._terminals)
        if problem:
            await self.submit(session.id, i.StartFailed(message=problem))
            return
        name = _name(session.id, effect.launch)
        handle = Handle(runtime="tmux", name=name, address=self._terminals.server)
        started = i.AgentStarted(launch=effect.launch, handle=handle)
        session = (await self.submit(session.id, started)).session
        if not _is_current(session, effect.launch):
            return  # called off meanwhile
        if await self._listened(session, effect.launch) is None:
            await self._terminals.end_all(f"{session.id}-", session.id)
            if session.run is not None and self._takes_prompt(session):
                await self.submit(session.id, i.AgentReady(launch=effect.launch))
                return
            await self._launch(session, effect.launch, words=None)
        rising = asyncio.create_task(self._rise(session, effect.launch))
        self._rising.add(rising)
        rising.add_done_callback(self._rising.discard)

    async def _rise(self, session: Session, launch: LaunchNumber) -> None:
        seat = self._seat(session, launch)
        with contextlib.suppress(JournalError):
            why = await hands.come_up(seat) if seat is not None else "gone"
            if not why:
                token = seat.token if seat is not None else None
                await self.submit(session.id, i.AgentReady(launch=launch, token=token))
            elif why != "gone":  # that is told by whoever listens
                await self._end(session.id, launch)
                await self.submit(session.id, i.AgentExited(launch=launch, message=why))

    def _takes_prompt(self, session: Session) -> bool:
        known = self._known(session)
        return any("{prompt}" in argument for argument in known.commands.start)

    async def _launch(
        self, session: Session, launch: LaunchNumber, *, words: str | None, inject: bool = False
    ) -> Seat:
        known = self._known(session)
        commands = known.commands
        token, how = await self._comeback.how(known.profile, session, words)
        resumed = how in (Spawn.RESUME, Spawn.RESUME_WITH_MESSAGE)
        if not resumed:
            token = Token(str(uuid.uuid4())) if commands.chooses_id else None
        inject = inject or (how is Spawn.FRESH_VISIBLY and words is not None)
        if inject and words is not None:
            words = await self._injected(session, launch, words)
        heard = i.Heard(launch=launch, events=announced(session, launch, how, token))
        session = (await self.submit(session.id, heard)).session
        command = commands.resume if resumed else commands.start
        fits = words is not None and len(words.encode()) <= LONGEST and _has_prompt(command)
        seat = self._sit(session, launch, known, token=token, asked=token if resumed else None)
        seat.read_from(self._record_size(known, token))
        if session.run is not None and words is not None:
            seat.mark(session.run.number, session.round, words, given=fits)
        values = {"id": token or "", "model": session.model, "prompt": _argument(words or "")}
        values["folder"] = json.dumps(session.workspace.path, ensure_ascii=False)[1:-1]
        values["hooks"] = hooks = self._hooks(known, seat.name)
        told = {name: value.replace("{hooks}", hooks) for name, value in commands.hooks_env.items()}
        argv = filled(
            command if fits else without_prompt(command), commands, values, mode=session.mode
        )
        async with self._doors[session.id]:
            pane = await self._terminals.launch(
                seat.name,
                argv,
                cwd=session.workspace.path,
                env={**known.environ, **commands.mode_env.get(session.mode, {}), **told},
                cookie=seat.cookie,
            )
            self._seats[session.id] = seat
        seat.listen(pane.pid)
        if words is not None and not fits and not await hands.come_up(seat):
            await hands.say(seat, words)
        return seat

    def _hooks(self, known: Known, name: str) -> str:
        if not known.commands.speaks:
            return ""
        file = self._marks.settings(name)
        write_settings(file, self._marks.moments(name))
        return str(file)

    def _record_size(self, known: Known, token: Token | None) -> int:
        where = known.profile.transcript
        return place.end(where, token, known.environ) if where and token else 0

    async def _injected(self, session: Session, launch: LaunchNumber, words: str) -> str:
        injected, told = await self._comeback.with_history(session, launch, words)
        await self.submit(session.id, i.Heard(launch=launch, events=(told,)))
        return injected

    # --- found again ----------------------------------------------------------------------------------

    def rejoin(self, session: Session) -> None:
        launch = session.launch
        known = launch is None or self._seat(session, launch.number) is not None
        if launch is None or known or session.id in self._joining:
            return
        joining = asyncio.create_task(self._rejoin(session, launch.number))
        self._joining[session.id] = joining
        joining.add_done_callback(lambda _: self._joining.pop(session.id, None))

    async def _listened(self, session: Session, launch: LaunchNumber) -> Seat | None:
        """Whoever is there, with somebody who listens to it. None: nobody is."""
        joining = self._joining.get(session.id)
        if joining is not None:
            await asyncio.wait({joining})
        seat = self._seat(session, launch)
        if seat is None and await self._terminals.find(_name(session.id, launch)) is not None:
            await self._rejoin(session, launch)
            seat = self._seat(session, launch)
        return seat

    async def _rejoin(self, session: Session, launch: LaunchNumber) -> None:
        try:
            known = self._known(session)
            pane = await self._terminals.find(_name(session.id, launch))
        except OSError as error:
            LOG.warning("session %s: its agent cannot be listened to: %s", session.id, error)
            return
        mark, run = self._marks.read(_name(session.id, launch)), session.run
        unnamed = mark is not None and mark.other == session.token
        seat = self._sit(session, launch, known, token=None if unnamed else session.token)
        seat.read_from(mark.offset if mark else self._record_size(known, session.token))
        seat.record.since = mark.at if mark else seat.record.since
        over = run is None or mark is None or run.number != mark.run
        if mark is not None and not mark.typed and over:
            # Its run is over: if the record still tells of it, nobody typed that.
            seat.unseen = {mark.words}
        if run is not None and run.delivered:
            ours = mark is not None and mark.run == run.number
            begun = mark if ours and mark else Mark(run=run.number, round=_round_before(session))
            if ours or mark is None or session.round > begun.round:
                seat.begin(begun, known=session.round)
        self._seats[session.id] = seat
        seat.listen(pane.pid if pane is not None else 0)

    def _sit(
        self,
        session: Session,
        launch: LaunchNumber,
        known: Known,
        *,
        token: Token | None,
        asked: Token | None = None,
    ) -> Seat:
        async def submit(given: i.Input) -> Any:
            return await self.submit(session.id, given)

        return Seat(
            session,
            launch,
            manner=manner_of(known, session),
            terminals=self._terminals,
            marks=self._marks,
            submit=submit,
            now=self._clock.now,
            waits=self._waits,
            token=token,
            asked=asked,
        )

    # --- work -----------------------------------------------------------------------------------------

    async def deliver(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, DeliverPrompt)
        if session.run is None:
            return
        words = prompt(briefing=session.run.briefing, text=session.run.text)
        seat = await self._listened(session, effect.launch)
        if seat is None:
            try:
                await self._launch(session, effect.launch, words=words, inject=effect.inject)
            except OSError as error:
                await self._end(session.id, effect.launch)
                gone = i.AgentExited(launch=effect.launch, message=str(error))
                await self.submit(session.id, gone)
        elif seat.run == effect.run:
            await hands.say_again(seat, words)
        elif not self._handed_over(session.id, effect):  # if it was, its turn is over by now
            if effect.inject:
                words = await self._injected(session, effect.launch, words)
            seat.mark(effect.run, session.round, words)
            await hands.say(seat, words)

    def _handed_over(self, id: SessionId, effect: DeliverPrompt) -> bool:
        mark = self._marks.read(_name(id, effect.launch))
        return mark is not None and mark.run == effect.run

    async def interrupt(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, InterruptAgent)
        seat = await self._listened(session, effect.launch)
        if seat is not None and (seat.run != effect.run or await hands.interrupt(seat)):
            return
        await self._end(session.id, effect.launch)
        await self.submit(session.id, i.AgentExited(launch=effect.launch))

    async def kill(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, KillAgent)
        await self._end(session.id, effect.launch)
        await self.submit(session.id, i.AgentExited(launch=effect.launch))

    async def _end(self, id: SessionId, launch: LaunchNumber) -> None:
        seat = self._seats.get(id)
        if seat is not None and seat.launch == launch:
            del self._seats[id]
            await seat.leave()
        name = _name(id, launch)
        await self._terminals.end(name, f"{id}:{launch}")
        self._marks.forget(name)

    async def answer(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, RelayAnswer)
        seat = await self._listened(session, effect.launch)
        if seat is not None:
            await seat.answer(effect.decision, effect.answer)

    # --- looking --------------------------------------------------------------------------------------

    async def alive(self, session: Session) -> bool | None:
        """True also for one that has ended and left words that nobody has heard yet: whoever rejoins it
        tells both."""
        launch = session.launch
        if launch is None:
            return False
        async with self._doors[session.id]:
            return await self._lives(session, launch.number)

    async def _lives(self, session: Session, launch: LaunchNumber) -> bool | None:
        if self._seat(session, launch) is not None:
            return True
        name = _name(session.id, launch)
        try:
            if await self._terminals.find(name) is not None:
                return True
            mark = self._marks.read(name)
            if mark is not None and session.run is not None and mark.run == session.run.number:
                return True
            left = await self._terminals.end(name, f"{session.id}:{launch}")
        except OSError:
            return None
        return None if left else False

    async def there(self, session: Session, token: Token) -> bool | None:
        known = self._profiles.get(session.agent)
        return await self._comeback.there(known, session, token) if known else None

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        return {}  # it ran them by itself, and does not say what became of them

    async def stop(self) -> None:
        """This process is going down: nobody listens any more. The agents live on."""
        tasks = [*self._rising, *self._joining.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for seat in list(self._seats.values()):
            await seat.leave()
        self._seats.clear()
        with contextlib.suppress(OSError):
            await self._terminals.rest()

    # --- what is known of it --------------------------------------------------------------------------

    def _seat(self, session: Session, launch: LaunchNumber) -> Seat | None:
        """The one that is listened to."""
        seat = self._seats.get(session.id)
        if seat is not None and seat.task is not None and seat.task.done():
            del self._seats[session.id]
            return None
        return seat if seat is not None and seat.launch == launch else None

    def _known(self, session: Session) -> Known:
        return known_of(self._profiles, self._comeback, session)


def _name(id: SessionId, launch: LaunchNumber) -> str:
    return f"{id}-{launch}"


def _is_current(session: Session, launch: LaunchNumber) -> bool:
    now = session.launch
    return now is not None and now.number == launch and now.alive


def _has_prompt(command: Sequence[str]) -> bool:
    return any("{prompt}" in argument for argument in command)


def _argument(words: str) -> str:
    """What begins like a flag would be read as one."""
    return f" {words}" if words.startswith("-") else words


def _round_before(session: Session) -> int:
    """The last round before the current run."""
    assert session.run is not None
    coming = session.phase is Phase.STREAMING_LLM
    return session.round - session.run.spent.rounds - (1 if coming else 0)
