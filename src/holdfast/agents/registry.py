"""The agents that there are: profiles, what is installed of them, and which ways this system has."""

from collections.abc import Collection

from holdfast.agents.profiles.installed import AgentRow, Installed
from holdfast.agents.profiles.load import Profiles
from holdfast.core.agent_choice import Candidate, choose_way
from holdfast.core.errors import Refused

BUILTIN = "builtin"


class Registry:
    def __init__(self, profiles: Profiles, installed: Installed, ways: Collection[str]) -> None:
        self._profiles, self._installed, self._ways = profiles, installed, ways

    def way(self, agent: str, *, wanted: str | None, mode: str) -> str:
        """How this agent is run here. `Refused` with the way out if it cannot be."""
        if agent == BUILTIN:
            if wanted not in (None, "", BUILTIN):
                raise Refused(
                    f"The built-in agent cannot be run via {wanted!r}.", "Leave out --via."
                )
            return BUILTIN
        if agent in self._profiles.mistakes:
            raise Refused(self._profiles.mistakes[agent], "Correct it in the configuration.")
        known = self._profiles.get(agent)
        if known is None:
            names = ", ".join((BUILTIN, *self._profiles))
            raise Refused(f"There is no agent {agent!r}.", f"Known: {names}.")
        candidate = Candidate(
            name=agent,
            ways=known.via,
            possible=frozenset(self._installed.ways(agent)) & frozenset(self._ways),
            modes={way: known.modes(way) for way in known.via if known.modes(way)},
            install=known.install or known.login,
        )
        return choose_way(candidate, wanted=wanted, mode=mode)

    async def rows(self, *, ask: bool = True) -> list[AgentRow]:
        return await self._installed.rows(ask=ask)
