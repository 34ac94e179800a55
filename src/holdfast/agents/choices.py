"""What a person may choose for a session: agents of this machine, models by name, and how much of a
conversation a model can hold and what reading it costs.

Rule 1: asked by a dialog that is already open: what takes long (a program's version, the library's list
        of models) is not waited for, or is asked for by itself.
Rule 2: a login is known where its key or its file lies; where neither does, nobody can tell.
"""

import asyncio

from holdfast.agents.builtin.models import Models
from holdfast.agents.builtin.providers.prices import priced, window
from holdfast.agents.profiles.installed import AgentRow
from holdfast.agents.profiles.load import Profiles
from holdfast.agents.profiles.profile import Profile
from holdfast.agents.registry import BUILTIN, Registry
from holdfast.config import BadConfig, Config
from holdfast.core.budget import Usage
from holdfast.core.modes import USUAL
from holdfast.core.session import Session
from holdfast.views.choices import AgentOut, AgentsOut, ModelsOut

NO_KEY = (
    "No provider's key was found. Set ANTHROPIC_API_KEY or another, then run: hold down; hold up"
)


class Choices:
    def __init__(
        self, registry: Registry, profiles: Profiles, models: Models, config: Config
    ) -> None:
        self._registry, self._profiles, self._models = registry, profiles, models
        self._config = config
        self._windows: dict[str, int | None] = {}
        self._asking: asyncio.Task[list[AgentRow]] | None = None

    async def agents(self) -> AgentsOut:
        rows = await self._registry.rows(ask=False)
        if any(row.installed and not row.version for row in rows) and not self._busy:
            self._asking = asyncio.create_task(self._registry.rows())  # for whoever asks next
        named = dict(self._profiles.all())
        others = [_out(row, named.get(row.name)) for row in rows]
        found = sorted(others, key=lambda agent: not agent.installed)
        return AgentsOut(agents=(self._builtin(), *found), usual=str(self._config.get("agent")))

    @property
    def _busy(self) -> bool:
        return self._asking is not None and not self._asking.done()

    def _builtin(self) -> AgentOut:
        try:
            usual = self._models.usual(str(self._config.get("model")))
            hint = "" if usual else NO_KEY
        except BadConfig as error:
            usual, hint = (), str(error)
        return AgentOut(
            name=BUILTIN,
            title="Built-in agent",
            installed=True,
            version="",
            ways=(BUILTIN,),
            modes=tuple(USUAL),
            models=usual,
            logged_in=bool(usual),
            hint=hint,
        )

    async def models(self) -> ModelsOut:
        """Of the providers that there is a key for. Takes a second, the first time."""
        return ModelsOut(models=await self._models.known())

    async def window(self, session: Session) -> int | None:
        """Tokens that its conversation may have; None: nobody knows. Our own agent summarises before
        the configured number is reached, whatever the model could hold."""
        provider, _, model = session.model.rpartition(":")
        if not session.context or not model or provider == "scripted":
            return None
        if (
            session.model not in self._windows
        ):  # asked with every push to a page: no thread for that
            self._windows[session.model] = await window(provider, model)
        found = self._windows[session.model]
        own = int(self._config.get("context_window")) if session.via == BUILTIN else 0
        return min(found, own) if found and own else found

    async def price(self, session: Session, tokens: int) -> int | None:
        """Only our own agent's: what another one pays for its model is between the two."""
        provider, _, model = session.model.partition(":")
        if session.via != BUILTIN or not model:
            return None
        usage = await priced(Usage(input_tokens=tokens), provider=provider, model=model)
        return None if usage.unpriced else usage.cost_micros

    async def stop(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)


def _out(row: AgentRow, known: Profile | None) -> AgentOut:
    return AgentOut(
        name=row.name,
        title=row.title,
        installed=row.installed,
        version=row.version,
        ways=row.via,
        modes=row.modes,
        models=known.models if known else (),
        logged_in=True if row.logged_in else None,
        hint=row.hint or ("" if row.logged_in else row.login),
    )
