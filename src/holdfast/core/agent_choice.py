"""Which agent is run, and by which way (SPEC E1): the one that was asked for, or a refusal that helps.

Rule 1: a way is possible if its program is installed and this version knows how to use it.
Rule 2: without a wish, the profile's first possible way that can be told the mode; a wish is granted
        or refused, never replaced.
Rule 3: a mode that an agent cannot be told is refused before anything starts.
"""

from collections.abc import Iterable, Mapping

from holdfast.core.errors import Refused
from holdfast.core.value import Value


class Candidate(Value):
    """An agent as far as choosing needs to know it."""

    name: str
    ways: tuple[str, ...]  # of its profile, best first
    possible: frozenset[str]
    modes: Mapping[str, frozenset[str]]  # by way; a way that is not named takes every mode
    install: str = ""  # how to get it, for people


def choose_way(candidate: Candidate, *, wanted: str | None, mode: str) -> str:
    name = candidate.name
    if wanted and wanted not in candidate.ways:
        ways = ", ".join(candidate.ways)
        raise Refused(f"{name} cannot be run via {wanted!r}.", f"Its ways: {ways}.")
    possible = [w for w in candidate.ways if w in candidate.possible and wanted in (None, "", w)]
    if not possible:
        via = f" via {wanted}" if wanted else ""
        raise Refused(
            f"{name} cannot be run{via}: its program is not installed.", candidate.install
        )
    fit = [way for way in possible if mode in candidate.modes.get(way, {mode})]
    if not fit:
        raise Refused(
            f"{name} via {possible[0]} cannot be told the mode {mode!r}.",
            f"It knows: {_listed(candidate.modes[possible[0]])}.",
        )
    return fit[0]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "none"
