"""Agents that are processes of their own: what is decided when they come and go."""

# spec: E5, E6, E12, E14, G7, P9

import pytest

from holdfast.core import effects as f
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.core.ids import Token
from holdfast.core.plan import Abilities, Strategy
from holdfast.core.react import react
from holdfast.core.session import Decision, ErrorClass, State, StopReason
from tests.core.stories import FOREIGN, ONE, RUN2, SECOND, TWO, YES, running, starting, stopped

FORGETFUL = Abilities(inject=True)  # it has no memory of its own


def kinds(events):
    return [type(event) for event in events]


def cold(abilities=FOREIGN):
    """An agent that worked, waits, and whose daemon was restarted."""
    return stopped(abilities=abilities).tell(i.OwnerLost())


def test_the_first_prompt_after_the_memory_was_lost_carries_the_history():
    story = cold(FORGETFUL)
    events = story.then(i.SendPrompt(input=SECOND, text="go on"))
    assert Strategy.INJECT is events[-1].plan.strategy
    story.tell(i.AgentStarted(launch=TWO))
    delivered = story.then(i.AgentReady(launch=TWO))[-1]
    assert e.PromptDelivered(run=RUN2, launch=TWO, inject=True) == delivered
    owed = react(story.session, delivered)
    assert [f.DeliverPrompt(launch=TWO, run=RUN2, inject=True)] == owed


# spec: G6, E13 (row by row: what an agent is sent by itself when it has come up)
COMES_UP = {
    "it never had its task": (starting(FOREIGN), e.PromptDelivered, False),
    "it remembers": (cold().tell(i.Reattach()), e.Reattached, False),
    "it waited and does not remember": (cold(FORGETFUL).tell(i.Reattach()), e.Reattached, True),
    "there is nothing to remember with": (
        cold(Abilities()).tell(i.Reattach()),
        e.Reattached,
        False,
    ),
}


@pytest.mark.parametrize(("story", "last", "flagged"), COMES_UP.values(), ids=COMES_UP)
def test_only_an_agent_that_never_had_its_task_is_sent_it(story, last, flagged):
    launch = story.session.launch.number
    story.tell(i.AgentStarted(launch=launch))
    events = story.then(i.AgentReady(launch=launch, token=story.session.token))
    assert last is kinds(events)[-1]
    assert (e.PromptDelivered in kinds(events)) is (last is e.PromptDelivered)
    assert flagged is story.session.inject


def test_it_is_owed_until_it_was_handed_over_and_then_never_again():
    story = cold(FORGETFUL).tell(i.SendPrompt(input=SECOND, text="go on"))
    story.tell(i.AgentStarted(launch=TWO), i.AgentReady(launch=TWO))
    assert story.session.inject
    story.hear(e.ContextInjected(launch=TWO, characters=9), launch=TWO)
    assert not story.session.inject
    assert [] == story.when(
        i.Heard(launch=TWO, events=(e.ContextInjected(launch=TWO, characters=9),))
    )


def test_an_agent_that_comes_back_with_another_conversation_gets_the_history():
    story = cold().tell(i.SendPrompt(input=SECOND, text="go on"), i.AgentStarted(launch=TWO))
    events = story.then(i.AgentReady(launch=TWO, token=Token("another")))
    assert [e.LaunchReady, e.ContextLost, e.TokenLearned, e.PromptDelivered] == kinds(events)
    assert events[-1].inject


def test_a_fresh_start_that_was_asked_for_carries_nothing():
    story = cold(FORGETFUL)
    story.tell(i.ContinueRun(fresh=True), i.AgentStarted(launch=TWO), i.AgentReady(launch=TWO))
    assert not any(event.inject for event in story.past if isinstance(event, e.PromptDelivered))


def test_what_the_agent_says_it_can_do_is_kept_over_launches():
    able = Abilities(acp_load=True, inject=True)
    story = starting(FOREIGN).tell(
        i.AgentStarted(launch=ONE), i.AgentReady(launch=ONE, abilities=able)
    )
    assert able == story.session.launch.abilities
    story.tell(i.RunFinished(launch=ONE, run=1, reason=StopReason.COMPLETED), i.OwnerLost())
    story.tell(i.Reattach())
    assert able == story.session.launch.abilities


def asking():
    question = Decision(id=YES, kind="permission", text="Run it?", options=("yes",), launch=ONE)
    return running(FOREIGN).hear(e.DecisionAsked(decision=question))


@pytest.mark.parametrize(
    "end",
    [
        i.AgentExited(launch=ONE, exit_code=1),
        i.OwnerLost(),
        i.OwnerLost(alive=None),
        i.CloseSession(),
        i.TokenRefused(launch=ONE, why="never heard of it"),
    ],
)
def test_nobody_can_answer_a_question_whose_asker_is_gone(end):
    story = asking().tell(end)
    assert () == story.session.decisions
    assert any(isinstance(event, e.DecisionDismissed) for event in story.past)


def test_a_question_of_the_built_in_agent_outlives_its_process():
    question = Decision(id=YES, kind="permission", text="Run it?", options=("yes",))
    story = running(FOREIGN).hear(e.DecisionAsked(decision=question)).tell(i.OwnerLost())
    assert (question,) == story.session.decisions


def test_an_agent_that_dies_before_it_has_the_prompt_is_started_once_more():
    story = cold().tell(i.SendPrompt(input=SECOND, text="go on"), i.AgentStarted(launch=TWO))
    events = story.then(i.AgentExited(launch=TWO, exit_code=1))
    assert [e.LaunchExited, e.Notice, e.LaunchRequested] == kinds(events)
    assert story.past[-1].plan == events[-1].plan
    again = story.then(i.AgentExited(launch=3, exit_code=1))
    assert [e.LaunchExited, e.RunStopped] == kinds(again)


@pytest.mark.parametrize(
    "end",
    [
        i.AgentExited(launch=ONE, exit_code=1, error=ErrorClass.AUTH),  # it would say so again
        i.AgentExited(launch=ONE, message="It did not answer within 90 s."),  # we ended it
    ],
)
def test_it_is_not_where_that_cannot_help(end):
    assert [e.LaunchExited, e.RunStopped] == kinds(starting(FOREIGN).when(end))


def test_once_it_has_the_prompt_it_is_never_started_again_by_itself():
    ended = running(FOREIGN).when(i.AgentExited(launch=ONE, signal=9))
    assert [e.LaunchExited, e.RunStopped] == kinds(ended)


def test_a_session_that_is_handed_over_forgets_the_first_agents_token():
    story = stopped(abilities=FOREIGN)
    events = story.then(i.ConfigureSession(agent="other", via="acp"))
    assert [e.LaunchExited, e.SessionConfigured] == kinds(events)
    assert "unknown" == events[0].liveness  # so it is killed
    assert (None, None) == (story.session.token, story.session.launch.abilities)
    begun = story.then(i.SendPrompt(input=SECOND, text="go on"))
    assert Strategy.INJECT is begun[-1].plan.strategy


def test_nothing_is_forgotten_by_a_change_of_the_model():
    story = stopped(abilities=FOREIGN).tell(i.ConfigureSession(model="x", agent="x"))
    assert "their-id" == story.session.token and story.session.agent_alive


def test_a_run_keeps_its_agent():
    with pytest.raises(Refused, match="Stop it first"):
        running(FOREIGN).when(i.ConfigureSession(agent="other"))


def test_what_was_typed_at_the_agents_own_terminal_is_a_run_that_owes_nothing():  # spec: A9 E11
    story = stopped(abilities=FOREIGN)
    events = story.then(i.PromptTyped(launch=ONE, input=SECOND, text="by hand"))
    assert [e.InputAccepted, e.RunStarted, e.PromptDelivered] == kinds(events)
    assert (RUN2, "by hand") == (events[1].run, events[1].text)
    assert [] == react(story.session, events[-1])
    assert story.session.run is not None and story.session.run.delivered
    assert [] == story.when(i.PromptTyped(launch=ONE, input=SECOND, text="more"))  # it is at work


def test_what_was_typed_to_an_earlier_launch_is_out_of_date():  # spec: G8
    assert [] == cold().when(i.PromptTyped(launch=ONE, input=SECOND, text="by hand"))


def test_an_agent_that_cannot_be_brought_back_at_all_says_why_and_waits():
    story = cold().tell(i.Reattach())
    events = story.then(i.StartFailed(message="claude is not installed"))
    assert e.Notice(kind="start_failed", text="claude is not installed") == events[-1]
    assert (State.WAITING_FOR_INPUT, True) == (story.session.state, story.session.token is not None)
