"""A conversation that was had without us, as one of ours."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, UserSaid, adopted
from holdfast.core.conversation import build
from holdfast.core.decide import decide
from holdfast.core.evolve import evolve, rebuild
from holdfast.core.messages import AssistantMessage, ResultsMessage, UserMessage
from holdfast.core.repair import repair
from holdfast.core.session import Session, State, StopReason
from holdfast.core.validate import Rules, validate

THEIRS, OURS = "t", "ours"
OPENED = i.OpenSession(agent="claude")
TALK = (
    UserSaid(text="look"),
    AgentSaid(text="I look."),
    CallMade(id="c", name="Bash", arguments='{"command":"ls"}'),
    CallDone(id="c", output="a"),
    AgentSaid(text="There is a."),
    UserSaid(text="thanks"),
    AgentSaid(text="Gladly."),
)


def taken_in(turns):
    command = i.AdoptConversation(opened=OPENED, token=THEIRS, turns=tuple(turns))
    return decide(Session(id="s"), command, i.Facts(now=5))


def test_it_comes_in_whole_and_waits():  # spec: E15
    events = taken_in(TALK)
    session = rebuild("s", events)
    said = [type(m) for m in build(events).messages()]
    turn = [UserMessage, AssistantMessage, ResultsMessage, AssistantMessage]
    assert said == [*turn, UserMessage, AssistantMessage]
    assert (session.state, session.token, session.runs) == (State.WAITING_FOR_INPUT, "t", 2)
    assert session.last_stop.reason is StopReason.COMPLETED


def test_a_fork_has_no_conversation_of_its_own_until_it_is_named_one():  # spec: E15
    opened = i.OpenSession(agent="claude", fork_of=THEIRS)
    command = i.AdoptConversation(opened=opened, token=None, turns=TALK)
    session = rebuild("s", decide(Session(id="s"), command, i.Facts(now=5)))
    assert (session.token, session.comes_back_to) == (None, THEIRS)
    session = evolve(session, e.TokenLearned(launch=1, token=OURS))
    assert (session.comes_back_to, session.past_tokens, session.fork_of) == (OURS, (), None)


def test_a_record_that_ends_before_the_answer_was_cut_off():  # spec: E15 D1
    for cut in (TALK[:1], TALK[:3], TALK[:6]):
        session = rebuild("s", taken_in(cut))
        assert session.stop.reason is StopReason.INTERRUPTED
    assert rebuild("s", taken_in(TALK[:2])).stop is None


def test_a_call_without_a_result_is_unknown():  # spec: E15 D7
    closed = [x for x in taken_in(TALK[:3]) if isinstance(x, e.CallClosed)]
    assert [(c.how, c.call) for c in closed] == [("unknown", "1/c")]


TEXT = st.text(max_size=4)
NAMES = st.sampled_from("ab")
TURNS = st.one_of(
    st.builds(UserSaid, text=TEXT),
    st.builds(AgentSaid, text=TEXT, thinking=TEXT),
    st.builds(CallMade, id=NAMES, name=NAMES),
    st.builds(CallDone, id=NAMES, output=TEXT),
)


@given(st.lists(TURNS, max_size=12))
def test_whatever_was_written_down_can_be_sent_to_a_model(turns):  # spec: B10 E15
    events = [e.SessionOpened(agent="x"), *adopted(turns, token=THEIRS, now=1)]
    session = rebuild("s", events)
    messages, _ = repair(build(events).to_send(), rules=Rules(provider="anthropic"))
    assert validate(messages, rules=Rules(provider="anthropic")) == []
    assert session.run is None
    assert session.open_calls == ()
