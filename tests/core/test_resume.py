"""Which way a session comes back, what came back, and whether it may go on by itself."""

import pytest

from holdfast.core.ids import DecisionId, Millis, RunNumber, SessionId, Token
from holdfast.core.plan import Abilities, Plan, Strategy
from holdfast.core.resume import (
    Spawn,
    choose,
    keep_token,
    may_continue_by_itself,
    not_back,
    spawn,
    walk_back,
)
from holdfast.core.session import (
    Cause,
    Decision,
    Limits,
    Run,
    Session,
    State,
    Stop,
    StopReason,
)
from holdfast.core.truth import Drift

TOKEN = Token("t3")
ALL = Abilities(
    replay=True, acp_resume=True, acp_load=True, native=True, inject=True, needs_process=False
)
ACP = Abilities(acp_resume=True, acp_load=True, native=True, inject=True)
LOADS = Abilities(acp_load=True, native=True, inject=True)
NATIVE = Abilities(native=True, inject=True)
INJECTS = Abilities(inject=True)
NOTHING = Abilities()
NATIVE_ONLY = Abilities(native=True)

NEVER_NAMED = "the agent has no conversation to come back to"
NOT_ABLE = "the agent cannot bring a conversation back itself"
NOT_THERE = "the agent's record of the conversation is not there"
CORRUPT = "the agent's stored reasoning is corrupt, so its own resume can never work"
CUT_TO_FIT = "the history is cut to fit: details may be missing"
KNOWS_NOTHING = "the agent will know nothing of the conversation so far"
UNCHECKED = "whether the agent still has this conversation could not be checked"
ARRIVED = "whether the last prompt reached the agent cannot be told"
REPLAY_TELLS = "a turn was in flight: what the agent replays tells whether the prompt arrived"


def plan(strategy, *, why="", risks=(), token=None, drift=Drift.SAME):
    return Plan(strategy=strategy, token=token, why=why, risks=tuple(risks), drift=drift)


# spec: E3 - one row for each way, and for each thing that takes the one before it away
WAYS = {
    "replay": (ALL, {}, plan(Strategy.REPLAY)),
    "replay without a token": (ALL, {"token": None}, plan(Strategy.REPLAY)),
    "acp_resume": (ACP, {}, plan(Strategy.ACP_RESUME, token=TOKEN)),
    "acp_load": (LOADS, {}, plan(Strategy.ACP_LOAD, token=TOKEN)),
    "native": (NATIVE, {}, plan(Strategy.NATIVE, token=TOKEN)),
    "inject": (INJECTS, {}, plan(Strategy.INJECT, why=NOT_ABLE, risks=[CUT_TO_FIT])),
    "fresh": (
        NOTHING,
        {},
        plan(Strategy.FRESH, why=f"{NOT_ABLE}; it takes no history", risks=[KNOWS_NOTHING]),
    ),
    "no token": (
        ACP,
        {"token": None},
        plan(Strategy.INJECT, why=NEVER_NAMED, risks=[CUT_TO_FIT]),
    ),
    "no token and nothing to inject": (
        ACP,
        {"token": None, "history": False},
        plan(Strategy.FRESH, why=f"{NEVER_NAMED}; there is no history to give it"),
    ),
    "no history of ours, but the agent has its own": (
        NATIVE,
        {"history": False},
        plan(Strategy.NATIVE, token=TOKEN),
    ),
    "in flight, load goes first": (
        ACP,
        {"in_flight": True},
        plan(Strategy.ACP_LOAD, token=TOKEN, why=REPLAY_TELLS),
    ),
    "in flight, load is all there is": (
        LOADS,
        {"in_flight": True},
        plan(Strategy.ACP_LOAD, token=TOKEN),
    ),
    "in flight without load": (
        Abilities(acp_resume=True),
        {"in_flight": True},
        plan(Strategy.ACP_RESUME, token=TOKEN, risks=[ARRIVED]),
    ),
    "in flight, replayed from our journal": (
        ALL,
        {"in_flight": True},
        plan(Strategy.REPLAY),
    ),
    # spec: E4 - "there" means verified; "could not be checked" is not "not there"
    "its transcript is not there": (
        NATIVE,
        {"there": False},
        plan(Strategy.INJECT, why=NOT_THERE, risks=[CUT_TO_FIT]),
    ),
    "its transcript is not there and it takes no history": (
        NATIVE_ONLY,
        {"there": False},
        plan(Strategy.FRESH, why=f"{NOT_THERE}; it takes no history", risks=[KNOWS_NOTHING]),
    ),
    "its transcript could not be checked": (
        NATIVE,
        {"there": None},
        plan(Strategy.NATIVE, token=TOKEN, risks=[UNCHECKED]),
    ),
    "a message that replaces the prompt": (
        NATIVE,
        {"replaces_prompt": True},
        plan(Strategy.FRESH, why="the message replaces the prompt", risks=[KNOWS_NOTHING]),
    ),
    "a fresh start that was asked for": (
        ALL,
        {"asked_fresh": True},
        plan(Strategy.FRESH, why="a fresh start was asked for", risks=[KNOWS_NOTHING]),
    ),
    # spec: E7 (corrupt reasoning)
    "corrupt reasoning": (
        ACP,
        {"corrupt_reasoning": True},
        plan(Strategy.INJECT, why=CORRUPT, risks=[CUT_TO_FIT]),
    ),
    "corrupt reasoning and no way to inject": (
        NATIVE_ONLY,
        {"corrupt_reasoning": True},
        plan(Strategy.FRESH, why=f"{CORRUPT}; it takes no history", risks=[KNOWS_NOTHING]),
    ),
    "corrupt reasoning in our own journal": (
        ALL,
        {"corrupt_reasoning": True},
        plan(
            Strategy.REPLAY,
            risks=["the provider refused the stored reasoning and may refuse it again"],
        ),
    ),
    # spec: D5 (a field of the plan)
    "drift is in the plan": (
        ALL,
        {"drift": Drift.BRANCH_MOVED},
        plan(
            Strategy.REPLAY,
            drift=Drift.BRANCH_MOVED,
            risks=["the workspace is on another branch"],
        ),
    ),
}


@pytest.mark.parametrize(("abilities", "facts", "expected"), WAYS.values(), ids=WAYS)
def test_the_first_way_that_applies_is_chosen(abilities, facts, expected):
    given = {"token": TOKEN, "there": True, "history": True} | facts

    actual = choose(abilities, **given)

    assert expected == actual


@pytest.mark.parametrize("moved", Drift)
def test_every_drift_but_none_is_a_risk(moved):
    expected = 0 if moved is Drift.SAME else 1

    actual = choose(ALL, token=None, there=None, history=True, drift=moved)

    assert expected == len(actual.risks)


# spec: E4 (the matrix, row by row)
SPAWNS = [
    (None, False, True, Spawn.RESUME),
    (None, True, True, Spawn.RESUME),
    ("also this", True, True, Spawn.RESUME_WITH_MESSAGE),
    ("instead this", False, True, Spawn.FRESH_WITH_PROMPT),
    ("instead this", False, False, Spawn.FRESH_WITH_PROMPT),
    (None, False, False, Spawn.FRESH_VISIBLY),
    ("also this", True, False, Spawn.FRESH_VISIBLY),
]


@pytest.mark.parametrize(("message", "append", "there", "expected"), SPAWNS)
def test_how_a_terminal_agent_is_spawned(message, append, there, expected):
    assert expected == spawn(message=message, append=append, there=there)


# spec: E4 (walking back)
@pytest.mark.parametrize(
    ("token", "past", "existing", "expected"),
    [
        ("t3", ("t2", "t1"), {"t3", "t2", "t1"}, "t3"),
        ("t3", ("t2", "t1"), {"t2", "t1"}, "t2"),
        ("t3", ("t2", "t1"), {"t1"}, "t1"),
        ("t3", ("t2", "t1"), set(), None),
        (None, ("t2", "t1"), {"t2", "t1"}, "t2"),
        (None, (), {"t1"}, None),
    ],
)
def test_the_newest_conversation_that_exists_is_taken(token, past, existing, expected):
    assert expected == walk_back(token, past, existing.__contains__)


# spec: E5 (silently fresh)
@pytest.mark.parametrize(
    ("asked", "got", "told"),
    [("t1", "t1", False), ("t1", "t2", True), ("t1", None, False), (None, "t2", False)],
)
def test_a_conversation_that_came_back_under_another_name_is_another_one(asked, got, told):
    assert told is bool(not_back(asked, got, fork=False))


# spec: E15
def test_a_fork_has_another_name_and_theirs_is_never_gone_on_with():
    forks = Abilities(native=True, inject=True, forks=True)
    given = {"token": TOKEN, "there": True, "history": True, "fork": True}
    assert Plan(strategy=Strategy.NATIVE, token=TOKEN, fork=True) == choose(forks, **given)
    assert choose(NATIVE, **given).strategy is Strategy.INJECT
    assert choose(forks, **given, asked_fresh=True) == plan(
        Strategy.FRESH, why="a fresh start was asked for", risks=[KNOWS_NOTHING]
    )
    assert "did not fork" in not_back(TOKEN, TOKEN, fork=True, forked=False)
    assert not not_back(TOKEN, "t4", fork=True, forked=True)


# spec: E18
def test_it_goes_back_to_a_message_by_itself_only_where_it_can():
    forks = Abilities(native=True, inject=True, forks=True)
    able = Abilities(native=True, inject=True, forks=True, forks_at=True)
    given = {"token": TOKEN, "there": True, "history": True, "fork": True, "at": "m1"}
    wanted = Plan(strategy=Strategy.NATIVE, token=TOKEN, fork=True, at="m1")
    assert wanted == choose(able, **given)
    cannot = choose(forks, **given)
    assert (Strategy.INJECT, None, None) == (cannot.strategy, cannot.token, cannot.at)
    assert "cannot go back" in cannot.why


# spec: E6 (kept tokens)
@pytest.mark.parametrize(
    ("unknown_to_agent", "asked_fresh", "has_native", "expected"),
    [
        (False, False, True, True),
        (True, False, True, False),
        (False, True, True, False),
        (False, False, False, False),
    ],
)
def test_a_failed_resume_keeps_the_token(unknown_to_agent, asked_fresh, has_native, expected):
    actual = keep_token(
        unknown_to_agent=unknown_to_agent, asked_fresh=asked_fresh, has_native=has_native
    )

    assert expected == actual


def stopped(reason, *, seen=True, **changes):
    stop = Stop(reason=reason, resumes_at=changes.pop("resumes_at", None))
    given = {"state": State.WAITING_FOR_INPUT, "stop": stop, "last_stop": stop, "stop_seen": seen}
    return Session(id=SessionId("s"), **given | changes)


QUESTION = Decision(id=DecisionId("d"), kind="question", text="which?")
RUN = Run(number=RunNumber(2), cause=Cause.PROMPT, limits=Limits())
ERROR = StopReason.ERROR

# spec: A2 B7 D2 D3 F10
BY_ITSELF = {
    "interrupted": (stopped(StopReason.INTERRUPTED), {}, None),
    "an error that nobody saw, by a policy": (stopped(ERROR, seen=False), {}, None),
    "an error that nobody saw, by opening a page": (
        stopped(ERROR, seen=False),
        {"opening": True},
        "nobody has seen yet why it stopped",
    ),
    "an error that was seen, by opening a page": (
        stopped(ERROR),
        {"opening": True},
        "opening a page never continues a run",
    ),
    "the user's own stop": (stopped(StopReason.CANCELLED), {}, "the user stopped it"),
    "a question is open": (stopped(ERROR, decisions=(QUESTION,)), {}, "a question is open"),
    "the same error twice": (stopped(ERROR, same_error=2), {}, None),
    "the same error three times": (
        stopped(ERROR, same_error=3),
        {},
        "it ended in the same error three times in a row",
    ),
    "another branch": (
        stopped(StopReason.INTERRUPTED),
        {"drift": Drift.BRANCH_MOVED},
        "the workspace is on another branch",
    ),
    "other drift": (stopped(StopReason.INTERRUPTED), {"drift": Drift.FOREIGN_EDITS}, None),
    "git could not answer": (
        stopped(StopReason.INTERRUPTED),
        {"drift": None},
        "git could not answer",
    ),
    "the limit resets later": (
        stopped(StopReason.RATE_LIMITED, resumes_at=Millis(100)),
        {"now": Millis(99)},
        "its limit has not reset",
    ),
    "the limit resets, and nobody says what time it is": (
        stopped(StopReason.RATE_LIMITED, resumes_at=Millis(100)),
        {},
        None,
    ),
    "when the limit resets is not known": (
        stopped(StopReason.RATE_LIMITED),
        {"now": Millis(99)},
        None,
    ),
    "the limit has reset": (
        stopped(StopReason.RATE_LIMITED, resumes_at=Millis(100)),
        {"now": Millis(100)},
        None,
    ),
    "it is running": (stopped(ERROR, run=RUN), {}, "it is running"),
    "it is archived": (stopped(ERROR, archived=True), {}, "it is put away"),
    "it is in the trash": (stopped(ERROR, trashed=True), {}, "it is put away"),
    "it is closed": (stopped(ERROR, state=State.COMPLETED), {}, "it is put away"),
    "it was dismissed": (
        stopped(StopReason.INTERRUPTED, stop=None),
        {},
        "its stop was dismissed",
    ),
    "completed, and nudged": (stopped(StopReason.COMPLETED, stop=None), {}, None),
}


@pytest.mark.parametrize(("session", "facts", "expected"), BY_ITSELF.values(), ids=BY_ITSELF)
def test_what_keeps_a_session_from_going_on_by_itself(session, facts, expected):
    assert expected == may_continue_by_itself(session, **facts)
