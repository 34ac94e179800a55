"""How a session comes back: by which way, by whose word, and with what done about its open calls.

Rule 1: everything that decides how a session comes back is in this file. Whether a person is
offered it is in offer.py.
Rule 2: nothing here asks the world. What an agent can do, what git says, which process lives comes
in as arguments; the answer is a value that the journal keeps, so a crash cannot change it.
Rule 3: the ways, best first (SPEC E3), each with what it needs:

    replay      the built-in agent: our journal is its memory
    acp_resume  a token that may still be known, and an agent that says it can
    acp_load    the same; goes before acp_resume while a turn is in flight, since what the agent
                replays tells whether our prompt arrived
    native      the same, by the agent's own flag or command
    inject      history of ours, and an agent that takes it
    fresh       always possible, and never silent

Rule 4: "could not be checked" is not "not there", and "unknown" is neither done nor undone.
Rule 5: reattaching may happen by itself; continuing needs a user, or a policy that nothing below
forbids.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import assert_never, get_args

from holdfast.core.budget import LimitReason
from holdfast.core.events_work import CallClosed, RerunDecided
from holdfast.core.ids import CallId, Millis, Token
from holdfast.core.plan import Abilities, Plan, Strategy
from holdfast.core.redact import REDACTED
from holdfast.core.session import CallStatus, Closing, EffectClass, OpenCall, Session, StopReason
from holdfast.core.truth import Drift
from holdfast.core.value import replace

SAME_ERROR_CAP = 3  # runs in a row that end in the same error: no fourth by itself (SPEC B7)

# --- which way (SPEC E3, E4, E7) ----------------------------------------------------------------

DRIFT_RISKS: dict[Drift, str] = {
    Drift.OURS_PARTIAL: "calls that were cut off may have been carried out in part",
    Drift.FOREIGN_EDITS: "files were changed by somebody else, or by a command",
    Drift.BRANCH_MOVED: "the workspace is on another branch",
    Drift.HEAD_MOVED: "commits were added or removed",
    Drift.WORKSPACE_MISSING: "the workspace is gone: work after the last snapshot may be lost",
}


PERHAPS_LOST = "whether the last prompt reached the agent cannot be told"
CANNOT_FORK = "the agent cannot fork a conversation, and this one is to stay as it is"
CANNOT_GO_BACK = "the agent cannot go back to an earlier message of its conversation"


def choose(
    abilities: Abilities,
    *,
    token: Token | None,
    there: bool | None,
    history: bool,
    fork: bool = False,
    at: str | None = None,
    in_flight: bool = False,
    replaces_prompt: bool = False,
    asked_fresh: bool = False,
    corrupt_reasoning: bool = False,
    drift: Drift = Drift.SAME,
) -> Plan:
    """The first way that applies. `there` None: the agent's record could not be looked for."""
    own = _own_ways(abilities, in_flight=in_flight)
    why = _why_not_own(own, token=token, there=there, corrupt=corrupt_reasoning)
    why = why or _why_no_fork(abilities, fork=fork, at=at)
    if asked_fresh or replaces_prompt:
        strategy = Strategy.FRESH
        why = "a fresh start was asked for" if asked_fresh else "the message replaces the prompt"
    elif abilities.replay:
        strategy, why = Strategy.REPLAY, ""
    elif not why:
        strategy, why = own[0], _why_load_first(abilities) if in_flight else ""
    elif abilities.inject and history:
        strategy = Strategy.INJECT
    else:
        strategy = Strategy.FRESH
        why += "; it takes no history" if history else "; there is no history to give it"
    risks = [DRIFT_RISKS[drift]] if drift is not Drift.SAME else []
    risks += [PERHAPS_LOST] if in_flight and strategy not in _TELLS else []
    risks += _memory_risk(strategy, there=there, history=history, corrupt=corrupt_reasoning)
    plan = Plan(strategy=strategy, drift=drift, why=why, risks=tuple(risks))
    return replace(plan, token=token, fork=fork, at=at) if strategy in _BY_TOKEN else plan


_TELLS = (Strategy.REPLAY, Strategy.ACP_LOAD)
_BY_TOKEN = (Strategy.ACP_RESUME, Strategy.ACP_LOAD, Strategy.NATIVE)


def _own_ways(abilities: Abilities, *, in_flight: bool) -> list[Strategy]:
    """The ways that use the agent's own memory, best first."""
    ways = [
        (abilities.acp_resume, Strategy.ACP_RESUME),
        (abilities.acp_load, Strategy.ACP_LOAD),
        (abilities.native, Strategy.NATIVE),
    ]
    if in_flight:
        ways[:2] = reversed(ways[:2])
    return [way for able, way in ways if able]


def _why_not_own(
    own: list[Strategy], *, token: Token | None, there: bool | None, corrupt: bool
) -> str:
    """Empty if the agent's own memory can come back."""
    if not own:
        return "the agent cannot bring a conversation back itself"
    if corrupt:
        return "the agent's stored reasoning is corrupt, so its own resume can never work"
    if token is None:
        return "the agent has no conversation to come back to"
    if there is False:
        return "the agent's record of the conversation is not there"
    return ""


def _why_no_fork(abilities: Abilities, *, fork: bool, at: str | None) -> str:
    if at is not None and not abilities.forks_at:
        return CANNOT_GO_BACK
    return CANNOT_FORK if fork and not abilities.forks else ""


def _why_load_first(abilities: Abilities) -> str:
    if abilities.acp_load and abilities.acp_resume:
        return "a turn was in flight: what the agent replays tells whether the prompt arrived"
    return ""


def _memory_risk(
    strategy: Strategy, *, there: bool | None, history: bool, corrupt: bool
) -> list[str]:
    match strategy:
        case Strategy.REPLAY if corrupt:
            return ["the provider refused the stored reasoning and may refuse it again"]
        case Strategy.INJECT:
            return ["the history is cut to fit: details may be missing"]
        case Strategy.FRESH if history:
            return ["the agent will know nothing of the conversation so far"]
        case Strategy.ACP_RESUME | Strategy.ACP_LOAD | Strategy.NATIVE if there is None:
            return ["whether the agent still has this conversation could not be checked"]
        case _:
            return []


class Spawn(StrEnum):
    """How a terminal or one-shot agent is started (SPEC E4)."""

    RESUME = "resume"
    RESUME_WITH_MESSAGE = "resume_with_message"
    FRESH_WITH_PROMPT = "fresh_with_prompt"
    FRESH_VISIBLY = "fresh_visibly"


def spawn(*, message: str | None, append: bool, there: bool) -> Spawn:
    if message is not None and not append:
        return Spawn.FRESH_WITH_PROMPT
    if not there:
        return Spawn.FRESH_VISIBLY
    return Spawn.RESUME if message is None else Spawn.RESUME_WITH_MESSAGE


def walk_back(
    token: Token | None, past: Iterable[Token], there: Callable[[Token], bool]
) -> Token | None:
    """The newest conversation of this session that really exists. `past` is newest first."""
    known = past if token is None else (token, *past)
    return next((t for t in known if there(t)), None)


# --- what came back (SPEC E5, E6) ---------------------------------------------------------------


def not_back(asked: Token | None, got: Token | None, *, fork: bool, forked: bool = False) -> str:
    """Why what came up is not what was asked for, a conversation or a fork of it; empty: it is, or
    nobody can tell. Several agents silently begin another one, with exit code 0."""
    if asked is None or got is None:
        return ""
    if fork:
        return "" if forked else f"the agent did not fork the conversation {asked}"
    return f"the agent came back with another conversation than {asked}" if got != asked else ""


def keep_token(*, unknown_to_agent: bool, asked_fresh: bool, has_native: bool) -> bool:
    """A failed resume is no reason to forget: only these three are."""
    return has_native and not unknown_to_agent and not asked_fresh


# --- may it go on by itself (PRODUCT "Two words", SPEC B7, D2) ----------------------------------


_NO_BANNER = (None, StopReason.COMPLETED)  # stops that nobody needs to dismiss


def may_continue_by_itself(
    session: Session,
    *,
    drift: Drift | None = Drift.SAME,
    now: Millis | None = None,
    opening: bool = False,
) -> str | None:
    """Why nothing but the user may continue this session; None: a policy may.

    `opening`: somebody opened a page, which reattaches at most. `drift` None: git could not answer.
    """
    last = session.last_stop
    reason = last.reason if last else None
    resets = last.resumes_at if last else None
    rows = (
        (session.archived or session.trashed or session.terminal, "it is put away"),
        (session.taken, "it is running"),
        (reason is StopReason.CANCELLED, "the user stopped it"),
        (bool(session.decisions), "a question is open"),
        (session.stop is None and reason not in _NO_BANNER, "its stop was dismissed"),
        (opening and not session.stop_seen, "nobody has seen yet why it stopped"),
        (opening, "opening a page never continues a run"),
        (session.same_error >= SAME_ERROR_CAP, "it ended in the same error three times in a row"),
        (drift is Drift.BRANCH_MOVED, "the workspace is on another branch"),
        (drift is None, "git could not answer"),
        (now is not None and resets is not None and resets > now, "its limit has not reset"),
    )
    return next((why for blocked, why in rows if blocked), None)


# --- what is done about open calls (SPEC D7, B6) ------------------------------------------------


class Probe(StrEnum):
    """What a call says afterwards about whether it happened."""

    DONE = "done"
    NOT_DONE = "not_done"
    UNKNOWN = "unknown"


NOT_STARTED = (
    "Not started: the run was cut off before this call began. Ask for it again if you need it."
)
PROBED_DONE = (
    "Done: the run was cut off before the result of this call was saved, but the workspace shows "
    "that it was carried out."
)
UNKNOWN = (
    "Outcome unknown: the run was cut off while this call was running. It was not run again. "
    "Check the workspace before you decide to repeat it."
)
UNKNOWN_WITHHELD = (
    "Outcome unknown: the run was cut off while this call was running. It cannot be run again as it "
    "was: its arguments held a secret, and secrets are not stored. "
    "Check the workspace before you decide to repeat it."
)
CANCELLED = (
    "Cancelled: the user stopped the run while this call was running. "
    "A part of its work may have been done."
)
CANCELLED_UNSTARTED = "Not started: the user stopped the run before this call began."


def close_calls(
    session: Session,
    *,
    probes: Mapping[CallId, Probe],
    rerun: frozenset[CallId] = frozenset(),
    by: str = "user",
    can_rerun: bool = True,
    still_asking: bool = True,
) -> list[CallClosed | RerunDecided]:
    """Settles every open call before the next model call. What stays pending is run by the loop.

    `can_rerun` False: a foreign agent ran its calls by itself, and no loop of ours can repeat one.
    `still_asking` False: the user wrote something else than "go on", or than an answer.
    """
    waiting = session.questions if still_asking else frozenset()
    unhurt = held_back(session) if still_asking else frozenset()
    events: list[CallClosed | RerunDecided] = []
    for opened in session.open_calls:
        call = opened.call.id
        whole = can_rerun and REDACTED not in opened.call.arguments
        kept = (whole and (call in session.granted or call in unhurt)) or call in waiting
        if opened.status is CallStatus.PENDING and can_rerun and kept:
            continue  # never begun: a limit was in its way, a yes came since, an answer is yet to
        if opened.attempt == 0 and opened.status is CallStatus.PENDING:
            events.append(CallClosed(call=call, how=Closing.NOT_STARTED, output=NOT_STARTED))
        elif whole and opened.status is CallStatus.PENDING:
            continue  # the decision to run it again is written and not used up
        elif can_rerun:
            decided_by = by if call in rerun else None
            events.append(_settle(opened, probes.get(call, Probe.UNKNOWN), decided_by))
        else:
            events.append(_unknown(call))
    return events


def held_back(session: Session) -> frozenset[CallId]:
    """Calls that a limit kept from beginning: nothing about them is in doubt."""
    limits = get_args(LimitReason)
    if session.last_stop is None or session.last_stop.reason not in limits:
        return frozenset()
    pending = (c for c in session.calls if c.status is CallStatus.PENDING)
    return frozenset(c.call.id for c in pending if not c.attempt)


def close_cancelled(session: Session) -> list[CallClosed]:
    """After a cancel nothing stays open."""
    return [
        CallClosed(call=c.call.id, how=Closing.CANCELLED, output=CANCELLED)
        if c.attempt or c.status is CallStatus.INTENDED
        else CallClosed(call=c.call.id, how=Closing.NOT_STARTED, output=CANCELLED_UNSTARTED)
        for c in session.open_calls
    ]


def _settle(opened: OpenCall, probe: Probe, decided_by: str | None) -> CallClosed | RerunDecided:
    """A call that was begun and whose result nobody saw."""
    call = opened.call.id
    if REDACTED in opened.call.arguments and probe is not Probe.DONE:
        return CallClosed(call=call, how=Closing.UNKNOWN, output=UNKNOWN_WITHHELD)
    match opened.call.effect:
        case EffectClass.PURE | EffectClass.IDEMPOTENT:
            return RerunDecided(call=call, by="rule")
        case EffectClass.PROBEABLE if probe is Probe.DONE:
            return CallClosed(call=call, how=Closing.PROBED_DONE, output=PROBED_DONE)
        case EffectClass.PROBEABLE if probe is Probe.NOT_DONE:
            return RerunDecided(call=call, by="rule")
        case EffectClass.PROBEABLE | EffectClass.UNSAFE:
            return RerunDecided(call=call, by=decided_by) if decided_by else _unknown(call)
        case _:
            assert_never(opened.call.effect)


def _unknown(call: CallId) -> CallClosed:
    return CallClosed(call=call, how=Closing.UNKNOWN, output=UNKNOWN)
