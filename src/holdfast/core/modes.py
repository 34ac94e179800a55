"""Our permission modes in another agent's words, and what is answered when it asks (SPEC B11, E1, E9).

Rule 1: an agent comes back in its own default, whatever it was in before: the mode is set again after
        every start, before anything is said to it.
Rule 2: a mode that restricts is set or the agent is not used. One that only widens may be missing: then
        it asks more often, and a line says so.
Rule 3: the profile says which of its modes is which of ours; for an agent that nobody described, the
        names that most of them use are tried.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from holdfast.core.value import Value

MODES = ("read-only", "ask", "edits", "full")  # of ours, from the narrowest to the widest
RESTRICTIVE = frozenset({"read-only", "ask"})
USUAL: dict[str, tuple[str, ...]] = {
    "read-only": ("read-only", "readonly", "plan"),
    "ask": ("ask", "default", "manual"),
    "edits": ("edits", "acceptEdits", "accept-edits", "autoEdit", "auto-edit", "auto", "agent"),
    "full": ("full", "full-access", "bypassPermissions", "yolo"),
}


class UseMode(Value):
    mode: str | None  # None: there is nothing to set
    note: str = ""


class NoMode(Value):
    why: str


def choose_mode(wanted: str, offered: Sequence[str], known: Mapping[str, str]) -> UseMode | NoMode:
    """`offered` are the agent's own names; `known` is the profile's, ours to theirs."""
    names = (known[wanted],) if wanted in known else () if known else USUAL.get(wanted, ())
    for name in names:
        if name in offered:
            return UseMode(mode=name)
    has = f"It offers: {', '.join(offered)}." if offered else "It offers no modes."
    if wanted in RESTRICTIVE:
        return NoMode(
            why=f"The agent cannot be held to mode {wanted!r}, so it gets no prompt. {has}"
        )
    note = f"The agent has no mode for {wanted!r} and works in its own default. {has}"
    return UseMode(mode=None, note=note if offered else "")


# --- questions --------------------------------------------------------------------------------------

HARMLESS = frozenset({"read", "search", "think", "fetch"})
WORDS = {
    "allow_once": "yes",
    "allow_always": "always",
    "reject_once": "no",
    "reject_always": "never",
}


class Offered(Value):
    id: str
    name: str
    kind: str


class Verdict(StrEnum):
    ASK = "ask"
    ALLOW = "allow"
    DENY = "deny"


def verdict(mode: str, kind: str | None) -> Verdict:
    """An agent may ask though its mode says enough. Rights are the least of what is stored and what it
    thinks it has."""
    if mode == "full":
        return Verdict.ALLOW
    if mode == "read-only":
        return Verdict.ALLOW if kind in HARMLESS else Verdict.DENY
    return Verdict.ASK


def words(options: Sequence[Offered]) -> tuple[str, ...]:
    """What a person is offered: our own words; the agent's where two options would have one word."""
    ours = [WORDS.get(option.kind, option.name) for option in options]
    told = tuple(
        word if ours.count(word) == 1 else option.name or option.id
        for word, option in zip(ours, options, strict=True)
    )
    return told if len(set(told)) == len(told) else tuple(option.id for option in options)


def chosen(answer: str, options: Sequence[Offered]) -> str | None:
    """The option that an answer means. What means none of them is a no; None: there is no no."""
    for option, word in zip(options, words(options), strict=True):
        if answer in (word, option.id, option.name):
            return option.id
    return _first(options, "reject_once", "reject_always")


def by_verdict(given: Verdict, options: Sequence[Offered]) -> str | None:
    if given is Verdict.ALLOW:
        return _first(options, "allow_once", "allow_always")
    return _first(options, "reject_once", "reject_always")


def _first(options: Sequence[Offered], *kinds: str) -> str | None:
    found = (option.id for kind in kinds for option in options if option.kind == kind)
    return next(found, None)
