"""What a person is offered: a status, the card of an interrupted session, `hold resume --all`."""

import pytest

from holdfast.core.ids import CallId, DecisionId, Millis, RunNumber, SessionId, Token
from holdfast.core.offer import (
    Offer,
    OfferKind,
    ResumeStatus,
    drift_of,
    in_bulk,
    offer,
    status,
    stays_down,
)
from holdfast.core.pacing import AT_ONCE, PAUSE_MS, pause_before
from holdfast.core.plan import Abilities
from holdfast.core.session import (
    Call,
    CallStatus,
    Cause,
    Decision,
    Launch,
    Limits,
    OpenCall,
    Run,
    Session,
    State,
    Stop,
    StopReason,
)
from holdfast.core.truth import Drift, NoTruth, Truth, Workspace
from holdfast.core.value import replace

ID = SessionId("s")
TOKEN = Token("t")
ERROR = Stop(reason=StopReason.ERROR)
CUT_OFF = Stop(reason=StopReason.INTERRUPTED)
WAITING = State.WAITING_FOR_INPUT
FOREIGN = Abilities(native=True)
BUILTIN = Abilities(replay=True, needs_process=False)

# spec: G4 (row by row): changes, alive, leased, (reason, resumable, needs resume)
ALIVE, DEAD, LEASED, FREE = True, False, True, False
ROWS = {
    "archived": (
        {"state": WAITING, "archived": True, "token": TOKEN},
        (ALIVE, LEASED),
        ("archived", False, False),
    ),
    "trashed": ({"state": WAITING, "trashed": True}, (DEAD, FREE), ("archived", False, False)),
    "completed": ({"state": State.COMPLETED}, (ALIVE, LEASED), ("terminal", False, False)),
    "failed": ({"state": State.FAILED}, (DEAD, FREE), ("terminal", False, False)),
    "cancelled": ({"state": State.CANCELLED}, (DEAD, FREE), ("terminal", False, False)),
    "its agent is alive": (
        {"state": WAITING, "token": TOKEN, "launches": 1},
        (ALIVE, LEASED),
        ("running", False, False),
    ),
    "lease not expired, no process of ours": (
        {"state": State.RUNNING, "token": TOKEN, "launches": 1},
        (DEAD, LEASED),
        ("recently_seen", False, False),
    ),
    "CREATED, never launched": (
        {"state": State.CREATED},
        (DEAD, FREE),
        ("not_started", False, False),
    ),
    "an error nobody has seen": (
        {"state": WAITING, "last_stop": ERROR, "stop_seen": False, "token": TOKEN, "launches": 1},
        (DEAD, FREE),
        ("error_unseen", True, False),
    ),
    "another stop that nobody has seen": (
        {"state": WAITING, "last_stop": CUT_OFF, "stop_seen": False, "token": TOKEN, "launches": 1},
        (DEAD, FREE),
        ("agent_not_running", True, True),
    ),
    "an error that was seen": (
        {"state": WAITING, "last_stop": ERROR, "token": TOKEN, "launches": 1},
        (DEAD, FREE),
        ("agent_not_running", True, True),
    ),
    "a resume token": (
        {"state": WAITING, "token": TOKEN, "launches": 1},
        (DEAD, FREE),
        ("agent_not_running", True, True),
    ),
    "no token, but it was launched": (
        {"state": WAITING, "launches": 1, "runs": 1},
        (DEAD, FREE),
        ("agent_not_running_fresh_start", True, True),
    ),
    "CREATED, but launched": (
        {"state": State.CREATED, "launches": 1},
        (DEAD, FREE),
        ("agent_not_running_fresh_start", True, True),
    ),
    "neither token nor launch": ({"state": WAITING}, (DEAD, FREE), ("not_started", False, False)),
}


@pytest.mark.parametrize(("changes", "world", "expected"), ROWS.values(), ids=ROWS)
def test_the_status_of_a_session_whose_agent_is_a_process(changes, world, expected):
    session = Session(id=ID, **changes)
    alive, leased = world

    actual = status(session, agent_alive=alive, leased=leased, abilities=FOREIGN)

    reason, resumable, needs = expected
    expected = ResumeStatus(
        state=session.state,
        is_agent_running=alive,
        is_resumable=resumable,
        needs_resume=needs,
        reason=reason,
    )
    assert expected == actual


# spec: G4 (the built-in agent)
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"state": WAITING, "runs": 1, "launches": 1}, ("agent_not_running", True)),
        ({"state": WAITING, "runs": 1}, ("agent_not_running", True)),
        ({"state": State.CREATED}, ("not_started", False)),
        ({"state": WAITING}, ("not_started", False)),
        ({"state": State.COMPLETED, "runs": 1}, ("terminal", False)),
    ],
)
def test_an_agent_that_needs_no_process_never_needs_a_resume(changes, expected):
    session = Session(id=ID, **changes)

    actual = status(session, agent_alive=False, leased=False, abilities=BUILTIN)

    assert (*expected, False) == (actual.reason, actual.is_resumable, actual.needs_resume)


PLACE = Workspace(id="w1", repo="r1", branch="main", base="aaa")
CLEAN = Truth(head="aaa", branch="main", workspace="w1", repo="r1")
INTERRUPTED = Stop(reason=StopReason.INTERRUPTED, at=Millis(1000))
RUN = Run(number=RunNumber(1), cause=Cause.PROMPT, limits=Limits())
CANCELLING = replace(RUN, cancelling=True)
MAX_AGE = 25 * 60 * 1000


def waiting(last=INTERRUPTED, **changes):
    given = {"state": WAITING, "workspace": PLACE, "stop": last, "last_stop": last, "runs": 1}
    return Session(id=ID, **given | changes)


def nothing(why):
    return Offer(kind=OfferKind.NONE, reason=why)


# spec: D2 D3 D4
OFFERS = {
    "as it was left": (waiting(), CLEAN, Offer(kind=OfferKind.RESUME)),
    "files changed": (
        waiting(truth=CLEAN),
        Truth(head="aaa", branch="main", dirty=(" M a.py",)),
        Offer(kind=OfferKind.RESUME),
    ),
    "the user had aborted": (
        waiting(Stop(reason=StopReason.CANCELLED)),
        CLEAN,
        nothing("the user had stopped it"),
    ),
    "aborted, and the stop is not written yet": (
        waiting(run=CANCELLING),
        CLEAN,
        nothing("the user had stopped it"),
    ),
    "another workspace": (
        waiting(),
        Truth(head="aaa", branch="main", workspace="w2"),
        nothing("this is another workspace"),
    ),
    "another repository": (
        waiting(),
        Truth(head="aaa", branch="main", repo="r2"),
        nothing("this is another workspace"),
    ),
    "another branch": (
        waiting(truth=CLEAN),
        Truth(head="bbb", branch="other"),
        Offer(kind=OfferKind.RESUME_ANYWAY, reason="Branch changed from main to other"),
    ),
    "another branch than it was made on": (
        waiting(),
        Truth(head="aaa", branch=""),
        Offer(kind=OfferKind.RESUME_ANYWAY, reason="Branch changed from main to no branch"),
    ),
    "another branch than none": (
        waiting(truth=Truth(head="aaa", branch="")),
        CLEAN,
        Offer(kind=OfferKind.RESUME_ANYWAY, reason="Branch changed from no branch to main"),
    ),
    "the workspace is gone": (
        waiting(),
        NoTruth(error="no such folder", missing=True),
        Offer(kind=OfferKind.RESUME, reason="The workspace is gone"),
    ),
    "git could not answer": (
        waiting(),
        NoTruth(error="index.lock"),
        nothing("git could not answer: index.lock"),
    ),
    "a plain folder has no git to ask": (
        waiting(workspace=Workspace(git=False)),
        NoTruth(error="not a repository"),
        Offer(kind=OfferKind.RESUME),
    ),
    "dismissed": (waiting(stop=None), CLEAN, nothing("it is not interrupted")),
    "stopped by an error": (waiting(ERROR), CLEAN, nothing("it is not interrupted")),
    "running": (waiting(stop=None, run=RUN), CLEAN, nothing("it is not interrupted")),
    "archived": (waiting(archived=True), CLEAN, nothing("it is put away")),
    "trashed": (waiting(trashed=True), CLEAN, nothing("it is put away")),
    "closed": (waiting(state=State.CANCELLED), CLEAN, nothing("it is put away")),
}


@pytest.mark.parametrize(("session", "now", "expected"), OFFERS.values(), ids=OFFERS)
@pytest.mark.parametrize("max_age", [None, MAX_AGE])
def test_what_an_interrupted_session_is_offered(session, now, expected, max_age):
    assert expected == offer(session, now, at=Millis(2000), disposable_max_age_ms=max_age)


# spec: D2 (disposable runtimes)
@pytest.mark.parametrize(
    ("age", "max_age", "expected"),
    [
        (MAX_AGE, MAX_AGE, OfferKind.RESUME),
        (MAX_AGE + 1, MAX_AGE, OfferKind.NONE),
        (MAX_AGE + 1, None, OfferKind.RESUME),
    ],
)
def test_a_disposable_runtime_is_offered_only_while_it_may_still_live(age, max_age, expected):
    at = Millis(INTERRUPTED.at + age)

    actual = offer(waiting(), CLEAN, at=at, disposable_max_age_ms=max_age)

    assert expected == actual.kind


def call(name, state):
    return OpenCall(call=Call(id=CallId(name), name="edit", files=(name,)), status=state)


# spec: D5 (which files are ours)
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("done.py", Drift.SAME),
        ("begun.py", Drift.OURS_PARTIAL),
        ("closed.py", Drift.OURS_PARTIAL),
        ("theirs.py", Drift.FOREIGN_EDITS),
    ],
)
def test_the_drift_of_a_session_knows_the_files_of_its_calls(file, expected):
    calls = (
        call("done.py", CallStatus.FINISHED),
        call("begun.py", CallStatus.INTENDED),
        call("closed.py", CallStatus.CLOSED),
    )
    now = Truth(head="aaa", branch="main", dirty=(f" M {file}",))

    assert expected == drift_of(waiting(calls=calls, truth=CLEAN), now)


def after(reason, **changes):
    resumes_at = changes.pop("resumes_at", None)
    return waiting(Stop(reason=reason, resumes_at=resumes_at), **changes)


QUESTION = Decision(id=DecisionId("d"), kind="question", text="which?")
LIMITED = StopReason.RATE_LIMITED

# spec: I1 (hold resume --all)
BULK = {
    "interrupted": (after(StopReason.INTERRUPTED), None),
    "error": (after(StopReason.ERROR), None),
    "the same error for the third time": (after(StopReason.ERROR, same_error=3), None),
    "an error nobody saw": (after(StopReason.ERROR, stop_seen=False), None),
    "budget": (after(StopReason.BUDGET_EXCEEDED), None),
    "tool calls": (after(StopReason.TOOL_LIMIT), None),
    "rounds": (after(StopReason.ROUND_LIMIT), None),
    "time": (after(StopReason.TIME_LIMIT), None),
    "rate limit that has reset": (after(LIMITED, resumes_at=Millis(50)), None),
    "rate limit that has not": (
        after(LIMITED, resumes_at=Millis(51)),
        "its rate limit has not reset",
    ),
    "rate limit without an end": (after(LIMITED), "when its rate limit resets is not known"),
    "cancelled": (after(StopReason.CANCELLED), "the user stopped it"),
    "completed": (after(StopReason.COMPLETED, stop=None), "it is completed"),
    "dismissed": (after(StopReason.INTERRUPTED, stop=None), "its stop was dismissed"),
    "a question is open": (
        after(StopReason.INTERRUPTED, decisions=(QUESTION,)),
        "a question is open",
    ),
    "archived": (after(StopReason.INTERRUPTED, archived=True), "it is archived"),
    "trashed": (after(StopReason.INTERRUPTED, trashed=True), "it is in the trash"),
    "running": (
        after(StopReason.INTERRUPTED, state=State.RUNNING),
        "it is RUNNING",
    ),
    "waiting without having stopped": (
        after(StopReason.INTERRUPTED, last_stop=None),
        "it has not run yet",
    ),
    "never run": (Session(id=ID), "it has not run yet"),
}


@pytest.mark.parametrize(("session", "expected"), BULK.values(), ids=BULK)
def test_which_sessions_are_resumed_all_at_once(session, expected):
    assert expected == in_bulk(session, now=Millis(50))


KNOWN = Session(id=ID, state=WAITING, token=TOKEN, launches=1)
UP = replace(KNOWN, launch=Launch(number=1))
ONE_SHOT = Abilities(native=True, needs_process=False)
GONE = "its record of the conversation is gone (the next prompt brings the history)"
LIVES = "agent is running (use --kill)"

# spec: I1 (hold agent resume): session, abilities, there, kill, why not
DOWN = {
    "dead": (KNOWN, FOREIGN, None, False, None),
    "dead, and to be killed": (KNOWN, FOREIGN, None, True, None),
    "alive": (UP, FOREIGN, None, False, LIVES),
    "alive, and to be killed": (UP, FOREIGN, None, True, None),
    "adopted": (replace(KNOWN, launches=0), FOREIGN, None, False, None),
    "never started": (Session(id=ID), FOREIGN, None, True, "its agent was never started"),
    "built-in": (KNOWN, BUILTIN, None, True, "the built-in agent needs no process"),
    "one-shot": (KNOWN, ONE_SHOT, True, False, None),
    "one-shot that cannot be looked up": (KNOWN, ONE_SHOT, None, False, None),
    "one-shot, forgotten": (KNOWN, ONE_SHOT, False, False, GONE),
    "closed": (replace(KNOWN, state=State.COMPLETED), FOREIGN, None, True, "it is COMPLETED"),
    "archived": (replace(KNOWN, archived=True), FOREIGN, None, True, "it is archived"),
    "trashed": (replace(KNOWN, trashed=True), FOREIGN, None, True, "it is in the trash"),
}


@pytest.mark.parametrize(("session", "abilities", "there", "kill", "why"), DOWN.values(), ids=DOWN)
def test_which_agents_are_brought_back(session, abilities, there, kill, why):
    assert why == stays_down(session, abilities=abilities, there=there, kill=kill)


def test_the_first_few_begin_at_once_and_the_others_apart():  # spec: F8
    assert [0] * AT_ONCE == [pause_before(n, 0.9) for n in range(AT_ONCE)]
    assert (PAUSE_MS, 2 * PAUSE_MS) == (pause_before(AT_ONCE, 0), pause_before(AT_ONCE, 1))
