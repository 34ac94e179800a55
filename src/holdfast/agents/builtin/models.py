"""Which models there are, by `provider:model`: those of real providers, and `scripted:FILE`.

A name is judged before anything is started: what can be told by the name alone at once, how a model is
spelt after the library was loaded (which its run needs anyway).
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from holdfast.agents.builtin.model import Model, ModelFailed
from holdfast.agents.builtin.providers import catalogue
from holdfast.agents.builtin.providers.keys import Keys
from holdfast.agents.builtin.providers.remote import Line, RemoteModel
from holdfast.agents.builtin.scripted import ScriptedModel
from holdfast.config import BadConfig
from holdfast.core.session import ErrorClass

SCRIPTED = "scripted"


class Models:
    def __init__(self, keys: Keys, now: Callable[[], int], line: Line | None = None) -> None:
        self._keys, self._now = keys, now
        self._line = line or Line()
        self._scripted: dict[str, ScriptedModel] = {}

    def default(self, lent: Mapping[str, str]) -> str:
        """Of the first provider with a key; empty: there is none (SPEC B13)."""
        return catalogue.default_model(self._keys.environ(lent))

    def usual(self, configured: str) -> tuple[str, ...]:
        """Names to begin with: what is configured, then one of each provider with a key."""
        found = catalogue.usual_models(self._keys.environ({}))
        return tuple(dict.fromkeys([*([configured] if configured else []), *found]))

    async def known(self) -> tuple[str, ...]:
        """Every name of the providers with a key."""
        return await asyncio.to_thread(_known, catalogue.with_key(self._keys.environ({})))

    def problem(self, name: str) -> str | None:
        """Why there is no such model, as far as its name tells; None: there is."""
        provider, _, rest = name.partition(":")
        if not name:
            return catalogue.no_model()
        if provider == SCRIPTED:
            return None if rest else "scripted: names no file: write scripted:FILE."
        return catalogue.problem(name)

    async def misspelt(self, name: str, lent: Mapping[str, str]) -> str | None:
        """Refuses a slip of the pen. A server of one's own has models of its own: not asked."""
        provider = catalogue.provider(name)
        if provider is None or catalogue.address(provider, self._keys.environ(lent)):
            return None
        return await asyncio.to_thread(_misspelt, name)

    def model(self, name: str, lent: Mapping[str, str]) -> Model:
        problem = self.problem(name)
        if problem is not None:
            raise ModelFailed(ErrorClass.BAD_REQUEST, problem)
        provider, _, path = name.partition(":")
        if provider == SCRIPTED:
            # One for all runs of this process: it counts how often a reply has failed.
            return self._scripted.setdefault(path, ScriptedModel(Path(path)))
        try:
            environ = self._keys.environ(lent)
        except BadConfig as error:
            raise ModelFailed(ErrorClass.AUTH, str(error)) from error
        return RemoteModel(name, environ, line=self._line, now=self._now)

    async def close(self) -> None:
        await self._line.close()


def _known(providers: tuple[str, ...]) -> tuple[str, ...]:
    from holdfast.agents.builtin.providers.library import models_of  # noqa: PLC0415  a second

    return tuple(name for provider in providers for name in models_of(provider))


def _misspelt(name: str) -> str | None:
    from holdfast.agents.builtin.providers.library import models_of  # noqa: PLC0415  a second

    return catalogue.misspelt(name, models_of(name.partition(":")[0]))
