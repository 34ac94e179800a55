"""What a fork begins with, and what a rewind goes back to."""

# spec: A2, A9, D8

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Usage
from holdfast.core.conversation import build
from holdfast.core.decide import decide
from holdfast.core.errors import Refused
from holdfast.core.evolve import rebuild
from holdfast.core.forking import inherited
from holdfast.core.ids import Token
from holdfast.core.rewinding import place, to_round
from holdfast.core.session import State, StopReason
from holdfast.core.truth import Workspace
from holdfast.core.value import replace
from tests.core.talk import call, response, run, stop

SPENT = Usage(input_tokens=10, output_tokens=5, cost_micros=7)
OPENED = e.SessionOpened(agent="x", workspace=Workspace(id="s", path="/t", repo="/r"))


def round(number):
    """One whole round: a response, a call, its result."""
    asked = call(id=f"c{number}")
    *said, finished = response(number, f"Round {number}.", asked)
    finished = e.ResponseFinished(round=number, calls=(asked,), usage=SPENT)
    done = e.CallFinished(call=asked.id, output=f"out {number}")
    return [*said, finished, e.CallIntended(call=asked.id), done]


FIRST = [OPENED, e.InputAccepted(input="a", text="go"), run(1, input="a"), *round(1), *round(2)]
WAITING = e.InputAccepted(input="b", text="later", queued=True)
STORY = [*FIRST, WAITING, *round(3), stop(1, StopReason.COMPLETED)]


def forked(events, at=None):
    copied = inherited(events, round=at, now=9)
    return rebuild("f", [OPENED, *copied.events]), copied


def said(events):
    return build(events).messages()


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_fork_says_what_its_parent_had_said_by_then(at):
    child, copied = forked(STORY, at)

    until_then = [*FIRST[:3], *(ev for n in range(1, at + 1) for ev in round(n))]
    assert said(until_then) == said(copied.events)
    assert (State.WAITING_FOR_INPUT, at) == (child.state, child.round)
    assert tuple(range(at + 1)) == copied.rounds


def test_at_the_tip_it_ends_as_its_parent_did():
    child, copied = forked(STORY)

    assert said(STORY) == said(copied.events)
    assert StopReason.COMPLETED == child.last_stop.reason
    assert copied.tip


def test_cut_in_the_middle_of_a_run_it_says_so_and_nothing_is_to_be_seen_to():
    child, copied = forked(STORY, 2)

    assert (StopReason.CANCELLED, "Forked at round 2.") == (
        child.last_stop.reason,
        child.last_stop.message,
    )
    assert child.stop_seen and not copied.tip


def test_round_0_is_a_session_that_has_not_begun():
    child, copied = forked(STORY, 0)

    assert ((), (0,)) == (copied.events, copied.rounds)
    assert State.CREATED == child.state


def test_what_was_spent_and_what_waits_stay_with_the_parent():
    child, _ = forked(STORY)
    parent = rebuild("s", STORY)

    assert (Usage(), ()) == (child.totals, child.queue)
    assert (21, 1) == (parent.totals.cost_micros, len(parent.queue))


def test_of_a_run_that_is_active_only_what_is_over_is_taken():
    child, copied = forked([*FIRST, *round(3)[:-1]])

    assert 2 == child.round
    assert said(FIRST) == said(copied.events)
    assert not copied.tip


def test_what_was_open_when_it_stopped_is_open_in_the_fork():
    child, _ = forked([*FIRST, *round(3)[:-1], stop()])

    assert ["c3"] == [c.call.id for c in child.open_calls]
    assert StopReason.INTERRUPTED == child.stop.reason


# --- rewinding --------------------------------------------------------------------------------------


def rewound(events, to, **what):
    s = rebuild("s", events)
    return [*events, *decide(s, to_round(s, events, to, **what), i.Facts(now=9))]


@pytest.mark.parametrize("to", [0, 1, 2, 3])
def test_rewound_it_says_what_it_had_said_then(to):
    back = rewound(STORY, to)
    s = rebuild("s", back)

    until_then = [*FIRST[:3], *(ev for n in range(1, to + 1) for ev in round(n))] if to else []
    assert said(until_then) == said(back)
    assert len(said(back)) == s.messages
    assert (3, State.WAITING_FOR_INPUT) == (s.round, s.state)


def cut_away(events):
    """The events that a rewind says are gone."""
    at = max(n for n, ev in enumerate(events) if isinstance(ev, e.Rewound))
    return list(events[events[at].since - 1 : at])


def test_a_rewind_says_where_what_is_gone_begins():
    second = [e.InputAccepted(input="c", text="more"), run(2, input="c"), *round(4)]
    ended = [*STORY, *second, stop(2, StopReason.COMPLETED)]

    assert [*second, stop(2, StopReason.COMPLETED)] == cut_away(rewound(ended, 3))
    assert round(2)[0] == cut_away(rewound(ended, 1))[0]
    assert ended[1:] == cut_away(rewound(ended, 0))
    assert [] == cut_away(rewound(ended, 4))


def test_a_fork_knows_where_that_is_in_its_own_history():
    back = [*rewound(STORY, 1), run(2, text="again"), *round(4)]

    child = [OPENED, *forked(back, 4)[1].events]
    assert round(2)[0] == cut_away(child)[0]


def test_after_a_rewind_nothing_of_what_was_cut_away_is_open():
    s = rebuild("s", rewound([*FIRST, *round(3)[:-1], stop()], 2))

    assert ((), None, StopReason.CANCELLED) == (s.open_calls, s.stop, s.last_stop.reason)


def test_the_files_alone_leave_what_was_said():
    back = rewound(STORY, 1, conversation=False)

    assert said(STORY) == said(back)


def test_a_round_that_was_cut_away_is_forked_not_rewound_to():
    back = rewound(STORY, 1)

    with pytest.raises(Refused, match="hold fork s --at 3"):
        to_round(rebuild("s", back), back, 3)
    child, copied = forked(back, 3)
    assert said(STORY) == said(copied.events)
    assert ((0, 1, 2, 3), 3) == (copied.rounds, child.round)


def test_the_files_of_a_fork_after_a_rewind_are_not_those_that_were_cut_away():
    back = [*rewound(STORY, 1), run(2, text="again"), *round(4)]

    assert (0, 1, 4) == forked(back, 4)[1].rounds


def test_a_summarised_round_is_forked_not_rewound_to():
    short = [*STORY, run(2, text="more"), e.ConversationCompacted(summary="so far", kept_from=6)]
    short += [*round(4), stop(2)]

    with pytest.raises(Refused, match="hold fork s --at 1"):
        to_round(rebuild("s", short), short, 1)
    assert said(round(1)) == said(forked(short, 1)[1].events)[1:]


def test_whoever_has_not_seen_the_latest_does_not_rewind_it():
    s = rebuild("s", STORY)
    command = to_round(s, STORY, 1)

    with pytest.raises(Refused, match="went on meanwhile"):
        decide(rebuild("s", [*STORY, e.StopSeen()]), command, i.Facts(now=9))
    with pytest.raises(Refused, match="only 3 rounds"):
        to_round(s, STORY, 4)


def learned(token):
    return e.TokenLearned(launch=1, token=token)


def finished(number, id="", *calls):
    return e.ResponseFinished(round=number, message_id=id or f"m{number}", calls=calls)


DROPPED = e.TokenDropped(launch=1, why="x")
OBSERVED = e.CallObserved(round=2, call=call())
HAD = Token("t1")
BACK = e.Rewound(round=1, code=False, conversation=True, token=HAD, message_id="m1")
OTHER, SAME = e.SessionConfigured(agent="another"), e.SessionConfigured(agent="x", model="m")
TWO = [learned("t1"), finished(1), finished(2)]


# spec: E18
@pytest.mark.parametrize(
    ("events", "at", "expected"),
    [
        (TWO, 1, ("t1", "m1")),
        (TWO, 2, ("t1", "m2")),
        (TWO, 0, (None, None)),
        ([finished(1)], 1, (None, None)),  # of a conversation without a name
        ([*TWO, OBSERVED], 2, (None, None)),  # what its calls gave comes after the message
        ([*TWO, finished(3, "m3", call())], 3, (None, None)),
        ([*TWO, OBSERVED], 1, ("t1", "m1")),
        ([learned("t1"), finished(1), learned("t2"), finished(2)], 1, ("t1", "m1")),
        ([*TWO, DROPPED], 1, ("t1", "m1")),
        ([*TWO, DROPPED, finished(3)], 3, (None, None)),
        ([*TWO, OTHER], 1, (None, None)),  # the names are another agent's
        ([*TWO, SAME], 1, ("t1", "m1")),
        ([*TWO, BACK, learned("t2"), finished(2, "n2")], 2, ("t2", "n2")),
        ([*TWO, BACK, learned("t2"), finished(2, "n2")], 1, ("t1", "m1")),
        ([*TWO, BACK], 2, (None, None)),
        ([*TWO, e.ResponseFinished(round=2)], 2, (None, None)),
    ],
)
def test_where_a_round_ended_in_the_conversation_with_the_agent(events, at, expected):
    assert expected == place([OPENED, *events], at)


# spec: E18
def test_after_a_rewind_its_agent_begins_again_up_to_that_message():
    had = [learned("t0"), *STORY[:3], learned("t1"), *round(1)]
    back = rebuild("s", [OPENED, *had, BACK])
    assert (None, "t1", "m1", ()) == (back.token, back.fork_of, back.fork_at, back.past_tokens)
    assert not back.inject
    own = rebuild("s", [OPENED, *had, BACK, learned("t2")])
    assert ("t2", None, None) == (own.token, own.fork_of, own.fork_at)
    for gone in (DROPPED, OTHER):
        lost = rebuild("s", [OPENED, *had, BACK, gone])
        assert (None, None, None) == (lost.token, lost.fork_of, lost.fork_at)


# spec: E18, A2
def test_a_fork_of_a_rewound_session_does_not_take_its_agents_conversation():
    taken = replace(BACK, round=2, since=8, message_count=4)
    child, _ = forked([*STORY, taken])
    assert (None, None) == (child.fork_of, child.fork_at)
