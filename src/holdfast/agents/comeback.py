"""How an agent that is a program of its own comes back: which of its conversations it still has, and what
it is given where it has lost them (SPEC E4, E12). Nothing is decided here: the rules are in core/resume.py.
"""

import asyncio
import os
from collections.abc import Callable, Mapping

from holdfast.agents.profiles.environment import environment
from holdfast.agents.profiles.profile import Profile
from holdfast.agents.transcripts.present import exists
from holdfast.core import events as e
from holdfast.core.conversation import build
from holdfast.core.ids import LaunchNumber, SessionId, Token
from holdfast.core.injection import before, inject
from holdfast.core.plan import Strategy
from holdfast.core.resume import Spawn, spawn, walk_back
from holdfast.core.session import Session
from holdfast.ports import Journal


class Unsure:
    """Whether the conversation is there cannot be told."""


class Comeback:
    def __init__(self, journal: Journal, lent: Callable[[SessionId], Mapping[str, str]]) -> None:
        self._journal, self._lent = journal, lent

    def environ(self, known: Profile, session: Session) -> dict[str, str]:
        return environment(known, os.environ, self._lent(session.id))

    async def there(self, known: Profile, session: Session, token: Token) -> bool | None:
        found = await self._found(known, session, token)
        return None if isinstance(found, Unsure) else found is not None

    async def how(
        self, known: Profile, session: Session, words: str | None
    ) -> tuple[Token | None, Spawn]:
        """By the plan that was written down, if its conversation is still there."""
        assert session.launch is not None
        plan = session.launch.plan
        if plan.strategy is not Strategy.NATIVE or plan.token is None:
            return None, Spawn.FRESH_WITH_PROMPT
        found = await self._found(known, session, plan.token)
        token = plan.token if isinstance(found, Unsure) else found
        return token, spawn(message=words, append=True, there=token is not None)

    async def with_history(
        self, session: Session, launch: LaunchNumber, words: str
    ) -> tuple[str, e.ContextInjected]:
        """The whole conversation in front of the prompt, and what is to be said of that."""
        assert session.run is not None
        messages = build(await self._journal.events(session.id)).messages()
        injected = inject(before(messages, session.run.number), words)
        added = len(injected) - len(words)
        why = session.launch.plan.why if session.launch else ""
        return injected, e.ContextInjected(launch=launch, characters=added, why=why)

    async def _found(self, known: Profile, session: Session, token: Token) -> Token | Unsure | None:
        """The newest of this session's conversations that the agent still has a record of."""
        where = known.transcript
        if where is None:
            return Unsure()
        environ = self.environ(known, session)
        past = session.past_tokens
        known_of = await asyncio.to_thread(
            lambda: {one: exists(where, one, environ) for one in (token, *past)}
        )
        if known_of[token] is None:
            return Unsure()
        return walk_back(token, past, lambda one: known_of[one] is True)


def announced(
    session: Session, launch: LaunchNumber, how: Spawn, token: Token | None
) -> tuple[e.ContextLost | e.TokenLearned, ...]:
    """Nothing is fresh silently; and an id that we choose is known before it is used."""
    told: list[e.ContextLost | e.TokenLearned] = []
    if how is Spawn.FRESH_VISIBLY:
        why = "the agent's record of the conversation is not there"
        told.append(e.ContextLost(launch=launch, why=why))
    if token is not None and token != session.token:
        told.append(e.TokenLearned(launch=launch, token=token))
    return tuple(told)
