"""What is decided about a workspace that is gone."""

# spec: D5, D8, D9, G5

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.decide import decide, wants_place, wants_truth
from holdfast.core.effects import ReturnWorkspace
from holdfast.core.errors import Refused
from holdfast.core.evolve import fold
from holdfast.core.ids import InputId, Millis, RunNumber
from holdfast.core.plan import Abilities, Plan, Strategy
from holdfast.core.react import react
from holdfast.core.session import Cause, Hint, Session, State, Stop, StopReason
from holdfast.core.truth import Lost, NoTruth, Truth, Workspace
from holdfast.core.value import replace

TREE = Workspace(id="00000000000a", path="/t", repo="/r/.git", branch="hold/x")
STOPPED = Session(
    id="00000000000a",
    opened=True,
    agent="builtin",
    state=State.WAITING_FOR_INPUT,
    workspace=TREE,
    runs=1,
    launches=1,
    last_stop=Stop(reason=StopReason.TOOL_LIMIT),
    hint=Hint(used="50 tool calls"),
)
LOST = i.Facts(now=Millis(1), lost=Lost(path="/t", source="snapshot 3"))
FOR_GOOD = i.Facts(now=Millis(1), lost=Lost(path="/t", cannot="The repository /r is not there."))
BACK = i.Heard(events=(e.WorkspaceRebuilt(workspace=TREE, snapshot=3),))
NOW = i.Facts(now=Millis(2), truth=Truth(head="b" * 40, branch="hold/x", dirty=("?? a.txt",)))
REPLAYED = Plan(strategy=Strategy.REPLAY)
PROMPT = i.SendPrompt(input=InputId("p"), text="go on")


def wished(given=None):
    return fold(STOPPED, decide(STOPPED, given or i.ContinueRun(message="and tidy up"), LOST))


def test_the_loss_and_the_wish_are_one_event_that_owes_the_workspace():
    (lost,) = decide(STOPPED, i.ContinueRun(message="and tidy up"), LOST)

    assert lost.source == "snapshot 3" and lost.wish.cause is Cause.CONTINUE
    assert react(fold(STOPPED, [lost]), lost) == [ReturnWorkspace()]
    assert react(STOPPED, e.WorkspaceLost(why="?")) == []


def test_it_is_told_what_became_of_the_workspace_and_everything_it_would_be_told_otherwise():
    events = decide(wished(), BACK, NOW)
    started = next(x for x in events if isinstance(x, e.RunStarted))

    assert started.briefing.startswith(
        "[SESSION_RESUMED]\nWorkspace state at recovery:\n- HEAD: bbbbbbb (hold/x)\n"
        "- Dirty files: a.txt\n"
    )
    told = (
        "The workspace you worked in is gone and this one was made in its place: work that was "
        "neither committed nor in a snapshot may be missing.\n\n[System: The user has requested"
    )
    assert told in started.briefing
    assert started.briefing.endswith("- Files modified: none\n\nand tidy up")


def test_truth_is_asked_for_when_it_is_back_and_not_before():
    assert wants_place(STOPPED, i.ContinueRun()) and wants_place(STOPPED, PROMPT)
    assert wants_place(STOPPED, i.Reattach()) and not wants_place(wished(), i.ContinueRun())
    assert wants_truth(wished(), BACK) and not wants_truth(STOPPED, BACK)


@pytest.mark.parametrize("given", [i.ContinueRun(), PROMPT, i.Reattach()])
def test_what_cannot_be_made_again_is_one_refusal(given):
    facts = replace(FOR_GOOD, abilities=Abilities(needs_process=True))
    with pytest.raises(Refused) as refused:
        decide(STOPPED, given, facts)
    assert "/t is gone and cannot be made again: The repository /r is not there." in str(
        refused.value
    )
    assert "The conversation is as it was" in refused.value.hint


def test_while_it_is_made_again_the_session_is_taken():
    session = wished()

    assert session.state is State.STARTING and session.taken
    assert decide(session, i.ContinueRun(), NOW) == []
    assert decide(session, PROMPT, NOW) == [
        e.InputAccepted(input=InputId("p"), text="go on", queued=True)
    ]
    for command in (i.TrashSession(), i.ArchiveSession(), i.ConfigureSession(agent="claude")):
        with pytest.raises(Refused):
            decide(session, command, NOW)


def test_a_cancel_or_a_close_takes_the_wish_back():
    session = wished()
    cancelled = decide(session, i.CancelRun(), NOW)

    assert cancelled == [e.CancelRequested(run=RunNumber(2))]
    for events in (cancelled, decide(session, i.CloseSession(), NOW)):
        after = fold(session, events)
        assert after.wish is None and after.state is not State.STARTING
        assert decide(after, BACK, NOW) == list(BACK.events)


@pytest.mark.parametrize("truth", [NoTruth(error="gone", missing=True), NoTruth(error="no git")])
def test_a_workspace_that_cannot_be_looked_at_after_all_leaves_a_notice(truth):
    session = wished()
    events = decide(session, BACK, i.Facts(now=Millis(2), truth=truth))
    after = fold(session, events)

    assert [type(x) for x in events] == [e.WorkspaceRebuilt, e.Notice]
    assert after.state is State.WAITING_FOR_INPUT and after.wish is None
    assert after.hint == STOPPED.hint  # the next resume has everything this one had


def test_a_snapshot_that_finds_nothing_does_not_take_a_wish_away():
    session = wished()

    assert decide(session, i.Heard(events=(e.WorkspaceLost(why="gone"),)), NOW) == []


def test_the_next_in_the_queue_waits_for_the_workspace_or_says_why_it_does_not_begin():
    session = fold(STOPPED, [e.InputAccepted(input=InputId("q"), text="next", queued=True)])
    begun = [
        e.RunStarted(run=RunNumber(2), cause=Cause.CONTINUE, limits=session.limits),
        e.LaunchRequested(launch=2, plan=REPLAYED),
    ]
    running = fold(session, begun)
    done = i.RunFinished(launch=2, run=RunNumber(2), reason=StopReason.COMPLETED)
    assert wants_place(running, done)

    waits = fold(running, decide(running, done, LOST))
    stays = fold(running, decide(running, done, FOR_GOOD))

    assert waits.wish.input == "q" and waits.wish.cause is Cause.QUEUE
    assert stays.wish is None and [q.id for q in stays.queue] == ["q"]
    assert isinstance(decide(running, done, FOR_GOOD)[-1], e.Notice)
