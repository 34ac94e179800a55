"""The decision for one resume, as a value that the journal keeps: a crash cannot change it."""

from enum import StrEnum

from holdfast.core.ids import Token
from holdfast.core.truth import Drift
from holdfast.core.value import Value


class Strategy(StrEnum):
    """How context comes back, best first (SPEC E3)."""

    REPLAY = "replay"  # built-in: the conversation is rebuilt from our journal
    ACP_RESUME = "acp_resume"
    ACP_LOAD = "acp_load"
    NATIVE = "native"  # the agent's own flag or command
    INJECT = "inject"  # our record of the conversation goes in front of the prompt
    FRESH = "fresh"


class Abilities(Value):
    """What an agent can do, from its profile and what was probed. Never guessed."""

    replay: bool = False
    acp_resume: bool = False
    acp_load: bool = False
    native: bool = False
    forks: bool = False  # can begin another conversation with what it has of one
    forks_at: bool = False  # and with a part of it, up to one of its messages
    inject: bool = False
    needs_process: bool = True  # False: idle means no process (the built-in agent, one-shots)
    survives_daemon: bool = False  # lives in tmux, a container or on another host
    probes: bool = False  # can tell afterwards whether a probeable call happened


class Plan(Value):
    strategy: Strategy
    token: Token | None = None
    fork: bool = False  # of that conversation, which stays as it is
    at: str | None = None  # up to this message of it
    drift: Drift = Drift.SAME
    why: str = ""  # why nothing better was possible
    risks: tuple[str, ...] = ()
    estimate_micros: int | None = None
