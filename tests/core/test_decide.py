"""Stories about commands: what a person may do, what follows, what is refused and in which words."""

# spec: A2, A3, A7, A8, A9, B5, D11

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.decide import ALLOWS, WORDS, wants_truth
from holdfast.core.errors import Refused
from holdfast.core.ids import CommandId
from holdfast.core.plan import Plan, Strategy
from holdfast.core.session import Cause, EffectClass, Queued, State, StopReason
from holdfast.core.truth import NoTruth
from tests.core.stories import (
    C1,
    FIRST,
    FOREIGN,
    IN,
    ONE,
    RUN1,
    RUN2,
    SECOND,
    TRUTH,
    TWO,
    YES,
    asking,
    calling,
    closed,
    cut_off,
    opened,
    running,
    starting,
    stopped,
)

REPLAY = Plan(strategy=Strategy.REPLAY)


def test_a_prompt_starts_a_run_and_asks_for_an_agent():
    assert [
        e.InputAccepted(input=FIRST, text="do it"),
        e.RunStarted(
            run=RUN1, cause=Cause.PROMPT, limits=Limits(), input=FIRST, text="do it", plan=REPLAY
        ),
        e.LaunchRequested(launch=ONE, plan=REPLAY),
    ] == opened().when(i.SendPrompt(input=FIRST, text="do it"))


def test_a_prompt_to_an_agent_that_is_up_is_handed_over_at_once():
    story = stopped(abilities=FOREIGN)

    *_, started, delivered = story.then(i.SendPrompt(input=SECOND, text="more"))

    assert (RUN2, "more") == (started.run, started.text)
    assert e.PromptDelivered(run=RUN2, launch=ONE) == delivered
    assert State.RUNNING is story.session.state


def test_a_prompt_while_a_run_is_active_waits_in_the_queue():
    story = running().tell(i.SendPrompt(input=SECOND, text="and then"))

    assert (Queued(id=SECOND, text="and then"),) == story.session.queue


def test_the_queue_goes_on_after_completion():
    story = running().tell(i.SendPrompt(input=SECOND, text="and then"))

    story.then(i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.COMPLETED))

    assert () == story.session.queue
    assert (RUN2, "and then") == (story.session.run.number, story.session.run.text)


@pytest.mark.parametrize("reason", sorted(set(StopReason) - {StopReason.COMPLETED}))
def test_the_queue_is_held_after_any_other_stop(reason):
    story = running().tell(i.SendPrompt(input=SECOND, text="and then"))

    story.then(i.RunFinished(launch=ONE, run=RUN1, reason=reason))

    assert (Queued(id=SECOND, text="and then"),) == story.session.queue
    assert story.session.run is None
    assert reason == story.session.stop.reason


def test_resume_continues_first_and_then_delivers_what_was_queued():
    story = running().tell(i.SendPrompt(input=SECOND, text="and then"))
    story.tell(i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.TOOL_LIMIT))
    story.tell(i.ContinueRun(), i.AgentStarted(launch=TWO), i.AgentReady(launch=TWO))
    assert Cause.CONTINUE is story.session.run.cause

    story.then(i.RunFinished(launch=TWO, run=RUN2, reason=StopReason.COMPLETED))

    assert "and then" == story.session.run.text


def test_a_new_prompt_goes_before_what_was_queued():
    story = running().tell(i.SendPrompt(input=SECOND, text="later"))
    story.tell(i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.ERROR, message="x"))

    story.then(i.SendPrompt(input=i.InputId("i3"), text="first this"))

    assert "first this" == story.session.run.text
    assert (Queued(id=SECOND, text="later"),) == story.session.queue


def test_queued_words_can_be_changed_and_taken_back_until_they_are_delivered():
    story = running().tell(i.SendPrompt(input=SECOND, text="b"))

    story.then(i.EditInput(input=SECOND, text="better"))
    assert (Queued(id=SECOND, text="better"),) == story.session.queue
    story.then(i.WithdrawInput(input=SECOND))
    assert () == story.session.queue

    with pytest.raises(Refused, match="not in the queue"):
        story.when(i.EditInput(input=SECOND, text="too late"))


def test_a_second_resume_starts_nothing():
    story = cut_off().tell(i.ContinueRun())

    assert [] == story.when(i.ContinueRun())


def test_a_resume_that_is_said_again_after_a_crash_has_been_done():  # spec: P8
    again = i.ContinueRun(command=CommandId("tap"))
    story = cut_off().tell(again, i.OwnerLost())

    assert StopReason.INTERRUPTED is story.session.stop.reason
    assert [] == story.when(again)
    assert [] != story.when(i.ContinueRun(command=CommandId("another tap")))
    assert [] != story.when(i.ContinueRun())


def test_a_continue_opens_a_fresh_window_and_keeps_the_totals():
    story = running().hear(
        e.RoundStarted(round=1),
        e.ResponseFinished(
            round=1, usage=e.ResponseFinished(round=1).usage.__class__(cost_micros=7)
        ),
    )
    story.tell(i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.BUDGET_EXCEEDED, percent=95))

    story.then(i.ContinueRun(limits=Limits(cost_micros=100)))

    assert 0 == story.session.run.spent.usage.cost_micros
    assert 7 == story.session.totals.cost_micros
    assert Limits(cost_micros=100) == story.session.run.limits


def test_a_graceful_stop_is_continued_with_the_pinned_words():
    story = stopped(StopReason.CANCELLED).tell(i.ContinueRun())

    assert story.session.run.briefing.startswith(
        "[System: The user has requested you resume. Continue from where you left off."
    )


def test_an_interrupted_run_is_continued_with_the_truth():
    story = cut_off()

    seen, closing, started, _ = story.then(i.ContinueRun(message="carefully"))

    assert e.WorkspaceSeen(truth=TRUTH) == seen
    assert e.Closing.UNKNOWN == closing.how
    assert started.briefing.startswith("[SESSION_RESUMED]\nWorkspace state at recovery:\n")
    assert started.briefing.endswith("carefully")


def test_words_typed_after_an_interruption_come_after_the_briefing():
    story = cut_off()

    story.then(i.SendPrompt(input=SECOND, text="do something else"))

    assert "do something else" == story.session.run.text
    assert story.session.run.briefing.startswith("[SESSION_RESUMED]")


def test_words_typed_after_another_stop_are_all_there_is():
    story = stopped(StopReason.CANCELLED)

    story.then(i.SendPrompt(input=SECOND, text="do something else"))

    assert story.session.run.briefing is None


def test_if_git_cannot_answer_nothing_is_continued_and_nothing_changes():
    story = cut_off()

    with pytest.raises(Refused, match=r"Git could not say.*: index is locked"):
        story.when(i.ContinueRun(), truth=NoTruth(error="index is locked"))


def test_git_is_asked_only_where_its_answer_matters():
    assert wants_truth(cut_off().session, i.ContinueRun())
    assert wants_truth(cut_off().session, i.SendPrompt(input=SECOND, text="x"))
    assert not wants_truth(stopped().session, i.SendPrompt(input=SECOND, text="x"))
    assert not wants_truth(running().session, i.ContinueRun())
    assert not wants_truth(stopped().session, i.MarkSeen())


def test_a_cancel_asks_an_agent_that_is_at_work():
    assert [e.CancelRequested(run=RUN1)] == running().when(i.CancelRun())


def test_a_cancel_calls_off_an_agent_that_is_still_starting():
    story = starting()

    kinds = [type(event) for event in story.then(i.CancelRun())]

    assert e.RunStopped in kinds
    assert StopReason.CANCELLED is story.session.stop.reason


def test_a_second_cancel_adds_nothing():
    assert [] == running().tell(i.CancelRun()).when(i.CancelRun())


def test_after_a_cancel_open_calls_are_closed_as_cancelled():
    story = calling().hear(e.CallIntended(call=C1)).tell(i.CancelRun())

    closing, *_ = story.then(i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.CANCELLED))

    assert (C1, e.Closing.CANCELLED) == (closing.call, closing.how)


def test_a_question_is_answered_once():
    story = asking().tell(i.AnswerDecision(decision=YES, answer="yes"))

    with pytest.raises(Refused, match="not open"):
        story.when(i.AnswerDecision(decision=YES, answer="no"))


def test_a_question_survives_the_death_of_its_owner():
    assert [YES] == [d.id for d in asking().tell(i.OwnerLost()).session.decisions]


def test_a_yes_after_the_death_lets_the_call_begin_in_the_next_run():
    story = asking().tell(i.OwnerLost(), i.AnswerDecision(decision=YES, answer="yes"))

    story.tell(i.ContinueRun(), i.AgentStarted(launch=TWO), i.AgentReady(launch=TWO))

    assert [e.CallIntended(call=C1)] == story.when(
        i.Heard(launch=TWO, events=(e.CallIntended(call=C1),))
    )


def test_going_on_without_an_answer_withdraws_the_question():
    story = asking().tell(i.OwnerLost())

    events = story.then(i.ContinueRun())

    assert e.DecisionDismissed(decision=YES, why="the run went on without it") in events
    assert () == story.session.decisions


def test_a_cancel_withdraws_the_question_about_a_call_that_will_not_be_run():
    story = asking().tell(i.CancelRun())

    story.then(i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.CANCELLED))

    assert () == story.session.decisions


def test_the_user_may_have_an_unknown_call_run_again():
    story = cut_off(EffectClass.UNSAFE)

    events = story.then(i.ContinueRun(rerun=(C1,)))

    assert e.RerunDecided(call=C1, by="user") in events


def test_dismissing_takes_the_banner_away_and_keeps_the_stop():
    story = cut_off().tell(i.DismissStop())

    assert story.session.stop is None
    assert StopReason.INTERRUPTED is story.session.last_stop.reason
    assert [] == story.when(i.DismissStop())


def test_seeing_is_recorded_once():
    story = cut_off()

    assert [e.StopSeen(by="cli")] == story.then(i.MarkSeen(by="cli"))
    assert [] == story.when(i.MarkSeen(by="cli"))


def test_reattach_brings_a_dead_agent_back_idle():
    story = stopped(abilities=FOREIGN).tell(i.AgentExited(launch=ONE, exit_code=0))

    [asked] = story.then(i.Reattach())
    assert (TWO, True) == (asked.launch, asked.reattach)
    story.tell(i.AgentStarted(launch=TWO), i.AgentReady(launch=TWO, token=asked.plan.token))

    assert State.WAITING_FOR_INPUT is story.session.state
    assert story.session.run is None


def test_reattach_ends_what_lives_first_where_that_was_said():  # spec: I1, E8
    story = running(FOREIGN)
    events = story.then(i.Reattach(kill=True))
    kinds = [type(event) for event in events]
    assert [e.CancelRequested, e.LaunchExited, e.RunStopped, e.LaunchRequested] == kinds
    assert (StopReason.CANCELLED, None) == (story.session.last_stop.reason, story.session.run)
    assert "unknown" == events[1].liveness  # so it is killed before the next one starts
    idle = stopped(abilities=FOREIGN)
    assert [e.LaunchExited, e.LaunchRequested] == [
        type(event) for event in idle.then(i.Reattach(kill=True))
    ]
    assert [] == stopped().when(i.Reattach(kill=True))


def test_reattaching_what_is_there_or_needs_no_process_changes_nothing():
    assert [] == stopped(abilities=FOREIGN).when(i.Reattach())
    assert [] == stopped().when(i.Reattach())


def test_closing_a_running_session_stops_its_run_first():
    story = running()

    *_, stop, over = story.then(i.CloseSession())

    assert StopReason.CANCELLED is stop.stop.reason
    assert e.SessionClosed() == over
    assert State.COMPLETED is story.session.state


def test_a_completed_session_names_fork_and_a_cancelled_one_reopen():
    with pytest.raises(Refused, match="hold fork"):
        closed().when(i.ContinueRun())
    with pytest.raises(Refused, match="hold reopen"):
        closed(cancelled=True).when(i.SendPrompt(input=SECOND, text="x"))


def test_a_session_that_does_not_exist_says_so():
    story = opened()
    story.session = story.session.__class__(id=story.session.id)

    with pytest.raises(Refused, match="no session"):
        story.when(i.ContinueRun())
    with pytest.raises(Refused, match="exists already"):
        opened().when(i.OpenSession(agent="y"))


SAMPLES = {
    i.ConfigureSession: i.ConfigureSession(model="m"),
    i.RenameSession: i.RenameSession(title="t"),
    i.PinSession: i.PinSession(),
    i.TagSession: i.TagSession(add=("a",)),
    i.ArchiveSession: i.ArchiveSession(),
    i.TrashSession: i.TrashSession(),
    i.RestoreSession: i.RestoreSession(),
    i.ForkSession: i.ForkSession(child="c"),
    i.CloseSession: i.CloseSession(),
    i.ReopenSession: i.ReopenSession(),
    i.SendPrompt: i.SendPrompt(input=SECOND, text="x"),
    i.ContinueRun: i.ContinueRun(),
    i.CancelRun: i.CancelRun(),
    i.Reattach: i.Reattach(),
    i.DismissStop: i.DismissStop(),
    i.MarkSeen: i.MarkSeen(),
    i.Rewind: i.Rewind(round=0, message_count=0, head=0),
    i.CancelTimer: i.CancelTimer(timer="t"),
}


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("command", list(SAMPLES), ids=lambda c: c.__name__)
def test_what_the_table_does_not_allow_is_refused_with_a_way_on(state, command):
    story = IN[state][0]()
    if command in ALLOWS[state]:
        try:
            story.when(SAMPLES[command])
        except Refused as refused:  # allowed in general, not in this particular session
            assert not refused.why.startswith(f"Session {story.session.id} is {state}: ")
    else:
        with pytest.raises(Refused, match=f"is {state}: {WORDS[command]} now"):
            story.when(SAMPLES[command])
