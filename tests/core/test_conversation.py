"""Events to messages. spec: B9, C4, D6, D7, D11, A9."""

import pytest

from holdfast.core import events as e
from holdfast.core.conversation import build
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    TextPart,
    ThinkingPart,
)
from holdfast.core.session import StopReason
from tests.core.talk import call, messages, response, run, said, stop, user

# --- the user's turns -----------------------------------------------------------------------


def test_a_prompt_and_its_answer_are_two_messages():
    actual = messages(run(text="hello"), *response(1, "hi"), stop(reason=StopReason.COMPLETED))

    assert [user("hello"), said("hi")] == actual


def test_what_is_queued_is_not_said_until_its_run_starts():  # spec: A9
    queued = [
        run(text="first"),
        e.InputAccepted(input="i2", text="second", queued=True),
        *response(1, "one"),
    ]

    assert [user("first"), said("one")] == messages(*queued)
    assert user("second", 2, input="i2") == messages(*queued, run(2, input="i2"))[-1]


def test_an_edited_input_is_said_as_edited():  # spec: A9
    accepted = e.InputAccepted(input="i", text="a", queued=True)

    actual = messages(accepted, e.InputEdited(input="i", text="b"), run(input="i"))

    assert [user("b", input="i")] == actual


def test_a_withdrawn_input_is_never_said():  # spec: A9
    accepted = e.InputAccepted(input="i", text="a", queued=True)

    assert messages(accepted, e.InputWithdrawn(input="i"), run(input="i")) == []


def test_a_prompt_after_an_interruption_is_one_turn_of_two_parts():  # spec: D11
    accepted = e.InputAccepted(input="i", text="and now?")

    actual = messages(accepted, run(input="i", briefing="[SESSION_RESUMED]"))

    assert [user("and now?", briefing="[SESSION_RESUMED]", input="i")] == actual


def test_the_start_of_a_run_told_twice_is_one_turn():
    assert [user("x")] == messages(run(text="x"), run(text="x"))


def test_a_run_without_words_adds_no_message():
    assert messages(run(text="", briefing="")) == []


# --- pieces of a response -------------------------------------------------------------------


def piece(text, offset, part=0):
    return e.TextSaved(round=1, text=text, offset=offset, part=part)


PIECES = {
    "in order": [(0, "abc"), (3, "def")],
    "twice": [(0, "abc"), (0, "abc"), (3, "def"), (3, "def")],
    "overlapping": [(0, "abcd"), (2, "cdef")],
    "one inside another": [(0, "abcdef"), (1, "bc")],
    "the second first": [(3, "def"), (0, "abc")],
    "backwards": [(5, "f"), (3, "de"), (1, "bc"), (0, "a")],
    "beyond the end, twice": [(4, "e"), (4, "ef"), (4, "e"), (0, "abcd")],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
def test_pieces_merge_by_offset(pieces):
    actual = messages(*(piece(text, offset) for offset, text in pieces))

    assert [said("abcdef", partial=True)] == actual


def test_what_lies_beyond_a_hole_is_left_out_until_the_hole_is_filled():
    finished = e.ResponseFinished(round=1, model="m", provider="p")
    conversation = build([piece("ab", 0), piece("ef", 4), finished])
    assert [said("ab")] == conversation.messages()

    conversation.add(piece("cd", 2))

    assert [said("abcdef")] == conversation.messages()


def test_a_thousand_pieces_in_the_wrong_order_are_no_trouble():
    pieces = [piece(str(n % 10), n) for n in range(1000)]

    (actual,) = messages(*reversed(pieces))

    assert actual.text == "0123456789" * 100


def test_parts_stand_in_their_order_whenever_they_came():
    actual = messages(
        e.TextSaved(round=1, text="answer", part=1),
        e.ThinkingSaved(round=1, text="hm", part=0),
        e.ResponseFinished(
            round=1,
            calls=(call("b", part=3), call("a", part=2)),
            signatures=(e.Signature(part=0, value="sig"),),
        ),
    )

    expected = (
        ThinkingPart(text="hm", signature="sig"),
        TextPart(text="answer"),
        CallPart(id="a", name="read", arguments='{"path": "a.py"}'),
        CallPart(id="b", name="read", arguments='{"path": "a.py"}'),
    )
    assert [AssistantMessage(round=1, parts=expected)] == actual


def test_a_signature_goes_back_to_the_part_it_came_with():  # spec: B10
    signatures = (
        e.Signature(part=0, value="hidden", redacted=True),
        e.Signature(part=1, value="of text"),
        e.Signature(part=2, value="of call"),
    )
    events = [
        e.TextSaved(round=1, text="t", part=1),
        e.ResponseFinished(round=1, calls=(call(part=2),), signatures=signatures),
    ]

    (actual,) = messages(*events)

    expected = (
        ThinkingPart(signature="hidden", redacted=True),
        TextPart(text="t", signature="of text"),
        CallPart(id="c1", name="read", arguments='{"path": "a.py"}', signature="of call"),
    )
    assert expected == actual.parts


def test_hidden_thinking_does_not_sign_the_text_in_its_place():  # spec: B10
    hidden = e.Signature(part=0, value="s", redacted=True)

    (actual,) = messages(*response(1, "t", signatures=(hidden,)))

    assert (ThinkingPart(signature="s", redacted=True), TextPart(text="t")) == actual.parts


def test_a_dropped_response_leaves_the_conversation():
    events = [
        run(text="x"),
        e.RoundStarted(round=1),
        e.TextSaved(round=1, text="half a re"),
        e.ResponseDropped(round=1, why="overloaded"),
    ]
    assert [user("x")] == messages(*events)

    again = [
        e.RoundStarted(round=1, attempt=2),
        e.TextSaved(round=1, text="whole"),
        e.ResponseFinished(round=1, model="m", provider="p"),
    ]

    assert [user("x"), said("whole")] == messages(*events, *again)


def test_a_second_attempt_begins_from_nothing():
    actual = messages(
        e.RoundStarted(round=1),
        e.TextSaved(round=1, text="first attempt"),
        e.RoundStarted(round=1, attempt=2),
        e.TextSaved(round=1, text="second"),
    )

    assert [said("second", partial=True)] == actual


def test_pieces_of_an_earlier_attempt_do_not_get_into_a_finished_response():
    late = [e.TextSaved(round=1, text="hi and much more"), e.ResponseDropped(round=1)]

    assert [said("hi")] == messages(*response(1, "hi"), *late)


# --- a response that was cut off ------------------------------------------------------------

HALF = [
    run(text="go"),
    e.RoundStarted(round=1),
    e.ThinkingSaved(round=1, text="let me see", part=0),
    e.TextSaved(round=1, text="I will now", part=1),
]


def test_of_a_response_that_was_cut_off_the_text_stays_and_the_thinking_goes():  # spec: A6
    assert [user("go"), said("I will now", partial=True)] == messages(*HALF, stop())


def test_a_cut_off_response_without_text_leaves_nothing():
    assert [user("go")] == messages(*HALF[:3], stop())


def test_a_briefing_that_quotes_the_partial_text_is_what_the_model_gets():  # spec: D6
    briefing = "[SESSION_RESUMED]\n---\nI will now\n---"
    conversation = build([*HALF, stop(), run(2, briefing=briefing)])

    assert [user("go"), user(None, 2, briefing=briefing)] == conversation.to_send()
    assert said("I will now", partial=True) in conversation.messages()


def test_after_a_cancel_the_partial_text_is_sent_as_it_is():  # spec: B6, D11
    conversation = build([*HALF, stop(reason=StopReason.CANCELLED), run(2, text="rather not")])

    expected = [user("go"), said("I will now", partial=True), user("rather not", 2)]
    assert expected == conversation.to_send()


def test_a_briefing_that_does_not_quote_it_does_not_replace_it():
    conversation = build([*HALF, stop(), run(2, briefing="[System: resume]")])

    assert conversation.messages() == conversation.to_send()


def test_a_whole_response_is_sent_whoever_quotes_it():
    conversation = build([run(text="go"), *response(1, "done"), run(2, briefing="I: done")])

    assert conversation.messages() == conversation.to_send()


def test_the_next_run_does_not_write_into_the_response_that_was_cut_off():
    again = [run(2, briefing="b"), e.RoundStarted(round=1), e.TextSaved(round=1, text="anew")]

    actual = messages(*HALF, stop(), *again)

    assert [said("I will now", partial=True), user(None, 2, briefing="b")] == actual[1:3]
    assert [said("anew", partial=True)] == actual[3:]
