"""What went wrong for others when a session was resumed, each as a test.

The numbers are those of the list of public issues this project grew from. spec: B9, B10, P6.
"""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core.conversation import build
from holdfast.core.messages import (
    UNKNOWN,
    AssistantMessage,
    CallPart,
    Result,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    UserMessage,
)
from holdfast.core.repair import repair
from holdfast.core.tidy import cut
from holdfast.core.validate import Rules, chars, validate
from tests.core.talk import call, done, messages, response, results, run, said, stop, user

RULES = Rules(provider="p", model="m")
LOST = Result(call="c1", name="read", output=UNKNOWN, failed=True, synthetic=True)


def sent(*events, rules=RULES):
    """What a provider gets; it must pass as if by a strict one."""
    body, notes = repair(build(events).to_send(), rules=rules)
    assert validate(body, rules=rules) == []
    msgspec.json.encode(body).decode()
    return body, notes


def rounds(count, first=1):
    return [
        event
        for n in range(first, first + count)
        for event in (*response(n, f"step {n}", call(f"c{n}")), *done(f"c{n}", f"output {n}"))
    ]


def test_case_1_a_call_whose_result_was_never_seen_is_told_as_unknown():
    events = [run(text="go"), *response(1, "", call()), e.CallIntended(call="c1"), stop()]

    body, notes = sent(*events, run(2, text="on"))

    expected = [user("go"), said("", 1, call()), ResultsMessage(results=(LOST,)), user("on", 2)]
    assert expected == body
    assert notes == ["Call 'c1' had no result: the model is told it is unknown."]


@pytest.mark.parametrize("missing", range(1, 51))
def test_case_2_a_result_missing_anywhere_is_repaired_in_place(missing):
    events = [event for event in rounds(50) if getattr(event, "call", "") != f"c{missing}"]

    body, _ = sent(run(text="go"), *events)

    whole = messages(run(text="go"), *rounds(50))
    lost = msgspec.structs.replace(LOST, call=f"c{missing}")
    expected = [*whole[: 2 * missing], ResultsMessage(results=(lost,)), *whole[2 * missing + 1 :]]
    assert expected == body


def test_case_3_a_turn_that_fails_twenty_times_leaves_one_placeholder():
    events = [run(text="go"), *response(1, "", call()), e.CallIntended(call="c1"), stop()]
    for number in range(2, 22):
        closing = e.CallClosed(call="c1", how=e.Closing.UNKNOWN, output="Outcome unknown.")
        events += [closing, run(number, briefing="on"), e.RoundStarted(round=number), stop(number)]

    body, _ = sent(*events)

    assert [len(m.results) for m in body if isinstance(m, ResultsMessage)] == [1]


IN_FLIGHT = [run(text="go"), *rounds(3), *response(4, "last", call("c4"))]


@pytest.mark.parametrize("kept_from", range(10))
def test_case_4_compaction_never_cuts_a_call_from_its_result(kept_from):
    compacted = e.ConversationCompacted(summary="so far", kept_from=kept_from)

    conversation = build([*IN_FLIGHT, compacted, *done("c4", "at last")])
    actual = conversation.messages()

    kept = messages(*IN_FLIGHT, *done("c4", "at last"))[build(IN_FLIGHT).cut_at(kept_from) :]
    assert kept == actual[1:]
    assert kept[-1] == results(("c4", "at last"))
    assert (actual, []) == repair(actual, rules=RULES)


def test_case_4_the_place_to_cut_is_moved_back_to_the_start_of_a_pair():
    places = [build(IN_FLIGHT).cut_at(n) for n in range(10)]

    assert places == [0, 1, 1, 3, 3, 5, 5, 7, 7, 7]


def test_case_6_a_result_without_its_call_is_not_sent():
    orphan = ResultsMessage(results=(Result(call="gone", name="read", output="x"),))
    before = [user("go"), said("", 1, call()), results(("c1", "ok"))]

    body, notes = repair([*before, orphan], rules=RULES)

    assert before == body
    assert notes == ["A result was left out: there is no call 'gone'."]


def test_case_7_a_denied_call_is_a_valid_pair():
    denied = e.CallClosed(call="c1", how=e.Closing.DENIED, output="Denied by the user.")

    body, notes = sent(run(text="go"), *response(1, "", call()), denied, stop(), run(2, text="on"))

    assert notes == []
    assert True is body[2].results[0].failed


@pytest.mark.parametrize("at", range(6))
def test_case_8_what_is_typed_in_the_middle_of_a_round_waits_for_its_run(at):
    events = [*response(1, "look", call()), *done()]
    events.insert(at, e.InputAccepted(input="i", text="also this", queued=True))

    body, notes = sent(run(text="go"), *events, stop(), run(2, input="i"))

    expected = [user("go"), said("look", 1, call()), results(("c1", "ok"))]
    assert ([*expected, user("also this", 2, input="i")], []) == (body, notes)


def test_case_9_the_results_of_200_finished_calls_come_back_byte_for_byte():
    body, notes = sent(run(text="go"), *rounds(200), stop(), run(2, text="on"))

    outputs = [r.output for m in body if isinstance(m, ResultsMessage) for r in m.results]
    assert ([f"output {n}" for n in range(1, 201)], []) == (outputs, notes)


def test_case_11_calls_without_their_tool_messages_are_found():
    history = [
        UserMessage(text="what is 2 + 2?"),
        AssistantMessage(round=1, parts=(CallPart(id="c1", name="add"),), provider="p", model="m"),
        UserMessage(text="hello?"),
    ]

    (problem,) = validate(history, rules=RULES)

    assert problem.text == "calls [('c1', 'add')] are followed by results of []"


SIGNED = [
    run(text="go"),
    e.RoundStarted(round=1),
    e.ThinkingSaved(round=1, text="hm", part=0),
    *response(1, "", call(), signatures=(e.Signature(part=0, value="E\u2028+/=\x00"),)),
    *done(),
]


def test_case_12_a_signature_comes_back_as_it_went_in():
    body, notes = sent(*SIGNED)

    assert (ThinkingPart(text="hm", signature="E\u2028+/=\x00"), []) == (body[1].parts[0], notes)


def test_case_12_thinking_that_lost_its_signature_is_not_sent():
    unsigned = [
        msgspec.structs.replace(x, signatures=()) if isinstance(x, e.ResponseFinished) else x
        for x in SIGNED
    ]

    body, notes = sent(*unsigned)

    assert said("", 1, call()) == body[1]
    assert notes == ["The response of round 1 had thinking that is not signed for this model."]


@pytest.mark.parametrize("cut_at", range(1, 6))
def test_case_13_a_stream_cut_inside_the_thinking_sends_none_of_it(cut_at):
    pieces = [e.ThinkingSaved(round=1, text="abcde"[n], offset=n) for n in range(cut_at)]

    body, notes = sent(run(text="go"), e.RoundStarted(round=1), *pieces, stop(), run(2, text="on"))

    assert ([user("go"), user("on", 2)], []) == (body, notes)


@pytest.mark.parametrize("rules", [Rules(provider="p", model="n"), Rules(provider="q", model="m")])
def test_case_13_and_14_under_another_model_or_provider_the_text_stays(rules):
    body, _ = sent(*SIGNED, *response(2, "done"), run(2, text="on"), rules=rules)

    expected = [user("go"), said("", 1, call()), results(("c1", "ok")), said("done", 2)]
    assert [*expected, user("on", 2)] == body


@given(st.text(st.characters(exclude_categories=[]), max_size=400), st.integers(200, 300))
def test_case_17_an_output_cut_anywhere_is_valid_for_a_strict_reader(output, limit):
    rules = Rules(max_message_chars=limit, provider="p", model="m")

    body, _ = sent(run(text="go"), *response(1, "", call()), *done(output=output), rules=rules)

    assert len(body[2].results[0].output) <= limit


def test_case_17_a_cut_does_not_split_a_character():
    assert cut("\U0001f389" * 300, 200) == "\U0001f389" * 160 + "... [140 characters cut]"


ODD = "\u2028\u2029\u0085\x00\ufeff\U0001f389"


def test_case_18_odd_characters_go_through_unchanged_everywhere():
    odd_call = call(arguments=msgspec.json.encode({"a": ODD}).decode())
    events = [run(text=ODD, briefing=ODD), *response(1, ODD, odd_call), *done(output=ODD)]
    finished = events[-3]
    events[-3] = msgspec.structs.replace(finished, signatures=(e.Signature(part=0, value=ODD),))

    body, notes = sent(*events)

    read_back = msgspec.json.decode(
        msgspec.json.encode(body), type=list[UserMessage | AssistantMessage | ResultsMessage]
    )
    text = TextPart(text=ODD, signature=ODD)
    assert (body, []) == (read_back, notes)
    assert (ODD, ODD, text, ODD) == (
        body[0].text,
        body[0].briefing,
        body[1].parts[0],
        body[2].results[0].output,
    )


def test_case_20_resuming_ten_times_sends_nothing_twice():
    work = [*rounds(5)]
    once = sent(run(text="go"), *work)

    replayed = [event for _ in range(10) for event in (*work, e.Reattached(launch=1))]

    assert once == sent(run(text="go"), *work, *replayed)


def size(conversation):
    return sum(map(chars, conversation.to_send()))


def test_case_97_a_compaction_is_not_undone_by_a_rebuild():
    long = [run(text="go"), *rounds(20)]
    compacted = e.ConversationCompacted(summary="twenty steps", kept_from=37)
    conversation = build(long)
    before = size(conversation)
    conversation.add(compacted)
    after = size(conversation)
    assert after < before / 4

    for later in ([], [stop()], [stop(), run(2, briefing="")], [stop(), *done("c20", "late")]):
        rebuilt = build([*long, compacted, *later])
        assert conversation.messages() == rebuilt.messages()
        assert after == size(rebuilt)


def test_case_97_a_second_compaction_summarises_the_first():
    first = e.ConversationCompacted(summary="one", kept_from=3)
    second = e.ConversationCompacted(summary="two", kept_from=3)

    actual = messages(run(text="go"), *rounds(3), first, second)

    assert UserMessage(briefing="two", summarised=3) == actual[0]
    assert messages(run(text="go"), *rounds(3))[5:] == actual[1:]


def test_a_result_of_a_call_that_was_summarised_is_not_sent():
    compacted = e.ConversationCompacted(summary="s", kept_from=3)
    again = [e.RerunDecided(call="c1", by="user"), *done("c1", "again", attempt=2)]
    events = [run(text="go"), *rounds(2), compacted]

    assert messages(*events) == messages(*events, *again)
