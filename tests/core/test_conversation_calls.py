"""Calls, their results and rewinds in the conversation. spec: B9, D6, D7, A9."""

import msgspec
import pytest

from holdfast.core import events as e
from holdfast.core.conversation import Conversation, build
from holdfast.core.messages import (
    CLOSED,
    Message,
    Result,
    ResultsMessage,
    UserMessage,
)
from tests.core.talk import call, done, messages, response, results, run, said, stop, user

# --- calls and results ----------------------------------------------------------------------


def test_a_result_stands_right_after_its_call():
    actual = messages(*response(1, "look", call()), *done(), *response(2, "seen"))

    assert [said("look", 1, call()), results(("c1", "ok")), said("seen", 2)] == actual


def test_results_stand_in_the_order_of_the_calls():
    both = response(1, "", call("a", part=0), call("b", part=1))

    actual = messages(*both, *done("b", "B"), *done("a", "A"))

    assert results(("a", "A"), ("b", "B")) == actual[-1]


def test_a_result_that_overtook_its_call_waits_for_it():
    finished = e.CallFinished(call="c1", output="early")
    assert messages(finished) == []

    assert [said("", 1, call()), results(("c1", "early"))] == messages(
        finished, *response(1, "", call())
    )


def test_a_result_that_comes_twice_is_one_result():  # spec: P2
    assert results(("c1", "ok")) == messages(*response(1, "", call()), *done(), *done())[-1]


@pytest.mark.parametrize("how", list(e.Closing))
def test_a_closed_call_has_a_result_that_says_how(how):  # spec: D7
    closed = e.CallClosed(call="c1", how=how, output="")

    result = Result(
        call="c1",
        name="read",
        output=CLOSED[how],
        failed=how is not e.Closing.PROBED_DONE,
        synthetic=True,
    )
    assert ResultsMessage(results=(result,)) == messages(*response(1, "", call()), closed)[-1]


UNKNOWN = [
    *response(1, "", call()),
    e.CallIntended(call="c1"),
    e.CallClosed(call="c1", how=e.Closing.UNKNOWN, output="Outcome unknown."),
]


def test_a_call_that_was_run_again_has_the_result_of_the_second_time():  # spec: D7
    again = [e.RerunDecided(call="c1", by="user"), *done(output="second", attempt=2)]

    assert results(("c1", "second")) == messages(*UNKNOWN, *again)[-1]


def test_a_late_result_of_the_first_attempt_does_not_change_what_the_model_was_told():
    late = e.CallFinished(call="c1", output="late")

    assert messages(*UNKNOWN) == messages(*UNKNOWN, late)


def test_a_second_attempt_that_ended_in_doubt_is_in_doubt():  # spec: D7
    closed = e.CallClosed(call="c1", how=e.Closing.UNKNOWN, output="?")

    actual = messages(
        *response(1, "", call()), *done(), e.CallIntended(call="c1", attempt=2), closed
    )

    assert actual[-1].results[0].output == "?"


def test_one_id_in_two_rounds_gives_each_its_own_result():
    actual = messages(
        *response(1, "", call()), *done(output="one"), *response(2, "", call()), *done(output="two")
    )

    assert [results(("c1", "one")), results(("c1", "two"))] == actual[1::2]


def test_what_an_agent_says_after_its_own_calls_comes_after_their_results():  # spec: E11
    actual = messages(
        e.TextSaved(round=1, text="look", part=0),
        e.CallObserved(round=1, call=call()),
        e.CallFinished(call="c1", output="ok"),
        e.TextSaved(round=1, text="seen", part=2),
        e.ResponseFinished(round=1, model="m", provider="p"),
    )

    assert [said("look", 1, call()), results(("c1", "ok")), said("seen", 1)] == actual


def test_calls_that_an_agent_made_by_itself_outlive_the_cut():
    observed = [e.CallObserved(round=1, call=call()), e.CallFinished(call="c1", output="ok")]

    actual = messages(e.TextSaved(round=1, text="look"), *observed, stop())

    assert [("look", False), results(("c1", "ok"))] == [
        (actual[0].text, actual[0].partial),
        actual[1],
    ]


def test_a_round_that_another_one_followed_was_not_cut_off():
    actual = messages(run(text="x"), e.TextSaved(round=1, text="a"), e.RoundStarted(round=2))

    assert False is actual[-1].partial


# --- rewind, and the cost of it all ---------------------------------------------------------

TWO_ROUNDS = [
    run(text="x"),
    *response(1, "a", call("c1")),
    *done("c1"),
    *response(2, "b", call("c2")),
    *done("c2"),
]


@pytest.mark.parametrize(
    ("count", "kept"), [(0, 0), (1, 1), (2, 3), (3, 3), (4, 5), (5, 5), (9, 5)]
)
def test_a_rewind_goes_back_to_a_message_but_never_between_call_and_result(count, kept):  # spec: D8
    rewound = e.Rewound(round=1, code=True, conversation=True, message_count=count)

    assert messages(*TWO_ROUNDS)[:kept] == messages(*TWO_ROUNDS, rewound)


def test_a_rewind_of_the_code_alone_leaves_the_conversation():  # spec: D8
    rewound = e.Rewound(round=1, code=True, conversation=False)

    assert messages(*TWO_ROUNDS) == messages(*TWO_ROUNDS, rewound)


def test_after_a_rewind_a_round_may_have_the_same_number_again():  # spec: D8
    rewound = e.Rewound(round=1, code=False, conversation=True, message_count=3)

    actual = messages(*TWO_ROUNDS, rewound, run(2, text="other"), *response(2, "c"))

    assert [*messages(*TWO_ROUNDS)[:3], user("other", 2), said("c", 2)] == actual


def test_an_event_costs_what_is_new():  # spec: C4
    conversation = build(TWO_ROUNDS)
    before = conversation.messages()

    conversation.extend(response(3, "c"))

    assert all(a is b for a, b in zip(before, conversation.messages(), strict=False))


def test_adding_one_by_one_is_building_at_once():
    conversation = Conversation()
    for event in TWO_ROUNDS:
        conversation.add(event)
        conversation.messages()

    assert messages(*TWO_ROUNDS) == conversation.messages()


def test_messages_survive_the_wire():
    spoken: list[Message] = [*messages(*TWO_ROUNDS), UserMessage(briefing="b", summarised=3)]

    assert spoken == msgspec.json.decode(msgspec.json.encode(spoken), type=list[Message])
