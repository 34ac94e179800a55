"""One `Agents` port for the engine, several ways to run an agent behind it: chosen by a session's `via`.

Rule 1: nothing concrete is named here; the assembly says which ways there are.
Rule 2: a session may be handed from one way to another while something of an earlier launch is still
to be ended. So an end is asked of every way: first of the one that has the session now.
Rule 3: a way that this version does not know starts nothing, and says so.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from holdfast.core import inputs as i
from holdfast.core.ids import CallId, SessionId, Token
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe
from holdfast.core.session import Call, Session
from holdfast.ports import Agents, Errand

Submit = Callable[[SessionId, i.Input], Awaitable[Any]]


class Way(Agents, Protocol):
    """One way to run agents."""

    submit: Submit  # the engine's, given by whoever puts them together

    async def stop(self) -> None:
        """This process is going down."""


class RoutedAgents:
    def __init__(self, ways: Mapping[str, Way]) -> None:
        self._ways = dict(ways)
        self._submit: Submit

    @property
    def submit(self) -> Submit:
        return self._submit

    @submit.setter
    def submit(self, submit: Submit) -> None:
        self._submit = submit
        for way in self._ways.values():
            way.submit = submit

    def abilities(self, session: Session) -> Abilities:
        way = self._ways.get(session.via)
        return way.abilities(session) if way else Abilities()

    async def start(self, errand: Errand, session: Session) -> None:
        way = self._ways.get(session.via)
        if way is not None:
            return await way.start(errand, session)
        known = ", ".join(sorted(self._ways))
        why = f"An agent cannot be run via {session.via!r} here. Known ways: {known}."
        return await self._submit(session.id, i.StartFailed(message=why))  # type: ignore[no-any-return]

    async def deliver(self, errand: Errand, session: Session) -> None:
        if way := self._ways.get(session.via):
            await way.deliver(errand, session)

    async def interrupt(self, errand: Errand, session: Session) -> None:
        if way := self._ways.get(session.via):
            await way.interrupt(errand, session)

    async def kill(self, errand: Errand, session: Session) -> None:
        own = self._ways.get(session.via)
        others = [way for way in self._ways.values() if way is not own]
        for way in [*([own] if own else []), *others]:
            await way.kill(errand, session)

    async def answer(self, errand: Errand, session: Session) -> None:
        if way := self._ways.get(session.via):
            await way.answer(errand, session)

    async def alive(self, session: Session) -> bool | None:
        way = self._ways.get(session.via)
        return await way.alive(session) if way else None

    def rejoin(self, session: Session) -> None:
        if way := self._ways.get(session.via):
            way.rejoin(session)

    async def there(self, session: Session, token: Token) -> bool | None:
        way = self._ways.get(session.via)
        return await way.there(session, token) if way else None

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        way = self._ways.get(session.via)
        return await way.probe(session, calls) if way else {}

    async def stop(self) -> None:
        for way in self._ways.values():
            await way.stop()
