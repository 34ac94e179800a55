"""What a provider would refuse is found, and repaired. spec: B10, P6."""

import json
from operator import is_

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core.budget import Limits
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
from holdfast.core.repair import BEGIN, GO_ON, repair
from holdfast.core.session import Call, Cause
from holdfast.core.validate import SHORTEST, Fault, Rules, validate

RULES = Rules(provider="p", model="m")
ASK = UserMessage(text="go")


def response(*parts, number=1, provider="p", model="m"):
    return AssistantMessage(round=number, parts=parts, provider=provider, model=model)


def call(id="c1", arguments="{}", name="read", signature=None):
    return CallPart(id=id, name=name, arguments=arguments, signature=signature)


def answer(id="c1", output="ok", name="read", *, failed=False, synthetic=False):
    return Result(call=id, name=name, output=output, failed=failed, synthetic=synthetic)


def answers(*results):
    return ResultsMessage(results=results)


LOST = answer(output=UNKNOWN, failed=True, synthetic=True)
THOUGHT = ThinkingPart(text="hm", signature="s")
TEXT = TextPart(text="t")

# what is wrong -> the fault, the messages, what they become
TABLE = {
    "no messages": (Fault.ENDS, [], [UserMessage(briefing=GO_ON)]),
    "the model speaks first": (
        Fault.ENDS,
        [response(TEXT), ASK],
        [UserMessage(briefing=BEGIN), response(TEXT), ASK],
    ),
    "the model spoke last": (
        Fault.ENDS,
        [ASK, response(TEXT)],
        [ASK, response(TEXT), UserMessage(briefing=GO_ON)],
    ),
    "no result": (
        Fault.PAIRS,
        [ASK, response(call()), ASK],
        [ASK, response(call()), answers(LOST), ASK],
    ),
    "one of two results": (
        Fault.PAIRS,
        [ASK, response(call("a"), call("b")), answers(answer("b"))],
        [
            ASK,
            response(call("a"), call("b")),
            answers(answer("a", UNKNOWN, failed=True, synthetic=True), answer("b")),
        ],
    ),
    "no call": (Fault.PAIRS, [ASK, answers(answer())], [ASK]),
    "a result too many": (
        Fault.PAIRS,
        [ASK, response(call()), answers(answer(), answer("c2"))],
        [ASK, response(call()), answers(answer())],
    ),
    "two results": (
        Fault.PAIRS,
        [ASK, response(call()), answers(LOST, answer())],
        [ASK, response(call()), answers(answer())],
    ),
    "the results in two messages": (
        Fault.PAIRS,
        [ASK, response(call("a"), call("b")), answers(answer("a")), answers(answer("b"))],
        [ASK, response(call("a"), call("b")), answers(answer("a"), answer("b"))],
    ),
    "the user in between": (
        Fault.PAIRS,
        [ASK, response(call()), ASK, answers(answer())],
        [ASK, response(call()), answers(answer()), ASK],
    ),
    "the result before the call": (
        Fault.PAIRS,
        [ASK, answers(answer()), response(call())],
        [ASK, response(call()), answers(answer())],
    ),
    "a call twice in a message": (
        Fault.PAIRS,
        [ASK, response(call(), call()), answers(answer())],
        [ASK, response(call()), answers(answer())],
    ),
    "an id twice": (
        Fault.PAIRS,
        [ASK, response(call()), answers(answer()), response(call()), answers(answer(output="2"))],
        [
            ASK,
            response(call()),
            answers(answer()),
            response(call("c1-2")),
            answers(answer("c1-2", "2")),
        ],
    ),
    "a result under another name": (
        Fault.PAIRS,
        [ASK, response(call()), answers(answer(name="write"))],
        [ASK, response(call()), answers(answer())],
    ),
    "an empty text": (
        Fault.BLANK,
        [ASK, response(TextPart(text=" \n"), TEXT), ASK],
        [ASK, response(TEXT), ASK],
    ),
    "an empty response": (Fault.BLANK, [ASK, response(), ASK], [ASK, ASK]),
    "an empty user's turn": (Fault.BLANK, [ASK, UserMessage(text=" ")], [ASK]),
    "an empty part of a user's turn": (
        Fault.BLANK,
        [UserMessage(text="", briefing="b")],
        [UserMessage(briefing="b")],
    ),
    "an empty results message": (Fault.BLANK, [ASK, answers()], [ASK]),
    "nothing but thinking": (Fault.BLANK, [ASK, response(THOUGHT), ASK], [ASK, ASK]),
    "thinking at the end": (
        Fault.BLANK,
        [ASK, response(TEXT, THOUGHT), ASK],
        [ASK, response(TEXT), ASK],
    ),
    "thinking without a signature": (
        Fault.THINKING,
        [ASK, response(ThinkingPart(text="hm"), TEXT), ASK],
        [ASK, response(TEXT), ASK],
    ),
    "thinking of another provider": (
        Fault.THINKING,
        [ASK, response(THOUGHT, TEXT, provider="q"), ASK],
        [ASK, response(TEXT, provider="q"), ASK],
    ),
    "thinking of another model": (
        Fault.THINKING,
        [ASK, response(THOUGHT, TEXT, model="n"), ASK],
        [ASK, response(TEXT, model="n"), ASK],
    ),
    "a call that another provider signed": (
        Fault.THINKING,
        [ASK, response(call(signature="s"), provider="q"), answers(answer())],
        [ASK, response(call(), provider="q"), answers(answer())],
    ),
    "half a character in a text": (
        Fault.LETTERS,
        [UserMessage(text="a\ud83cb")],
        [UserMessage(text="a\ufffdb")],
    ),
    "a character in two halves": (
        Fault.LETTERS,
        [UserMessage(text="\ud83c\udf89")],
        [UserMessage(text="\U0001f389")],
    ),
    "half a character in an output": (
        Fault.LETTERS,
        [ASK, response(call()), answers(answer(output="\udf89"))],
        [ASK, response(call()), answers(answer(output="\ufffd"))],
    ),
    "half a character in signed thinking": (
        Fault.LETTERS,
        [ASK, response(ThinkingPart(text="\ud83c", signature="s"), TEXT), ASK],
        [ASK, response(TEXT), ASK],
    ),
    "half a character in the signature of a text": (
        Fault.LETTERS,
        [ASK, response(TextPart(text="t", signature="\ud83c")), ASK],
        [ASK, response(TEXT), ASK],
    ),
    "half a character in the signature of thinking": (
        Fault.LETTERS,
        [ASK, response(ThinkingPart(text="hm", signature="\ud83c"), TEXT), ASK],
        [ASK, response(TEXT), ASK],
    ),
    "an id of odd letters": (
        Fault.LETTERS,
        [ASK, response(call("a|b")), answers(answer("a|b"))],
        [ASK, response(call("a_b")), answers(answer("a_b"))],
    ),
    "a name of odd letters": (
        Fault.LETTERS,
        [ASK, response(call(name="Read file")), answers(answer(name="Read file"))],
        [ASK, response(call(name="Read_file")), answers(answer(name="Read_file"))],
    ),
    "half a character in arguments": (
        Fault.ARGUMENTS,
        [ASK, response(call(arguments='{"a": "\\ud83c"}')), answers(answer())],
        [ASK, response(call(arguments='{"a": "\ufffd"}')), answers(answer())],
    ),
    "a raw line break in arguments": (
        Fault.ARGUMENTS,
        [ASK, response(call(arguments='{"a": "b\nc"}')), answers(answer())],
        [ASK, response(call(arguments='{"a": "b\\nc"}')), answers(answer())],
    ),
    "arguments cut off": (
        Fault.ARGUMENTS,
        [ASK, response(call(arguments='{"path": "a.')), answers(answer(failed=True))],
        [
            ASK,
            response(call()),
            answers(
                answer(
                    output='[The arguments were not a JSON object: {"path": "a.]\nok', failed=True
                )
            ),
        ],
    ),
    "arguments that are a list": (
        Fault.ARGUMENTS,
        [ASK, response(call(arguments="[1]")), answers(answer())],
        [
            ASK,
            response(call()),
            answers(answer(output="[The arguments were not a JSON object: [1]]\nok")),
        ],
    ),
}


@pytest.mark.parametrize(("fault", "given_", "expected"), TABLE.values(), ids=TABLE)
def test_what_is_wrong_is_found_and_put_right(fault, given_, expected):
    assert fault in {problem.fault for problem in validate(given_, rules=RULES)}

    actual, notes = repair(given_, rules=RULES)

    assert expected == actual
    assert notes != []
    assert validate(actual, rules=RULES) == []


def test_an_output_that_is_too_long_says_how_much_was_cut():
    messages = [ASK, response(call()), answers(answer(output="x" * 1000))]
    rules = Rules(max_message_chars=300)
    assert [p.fault for p in validate(messages, rules=rules)] == [Fault.SIZE]

    (_, _, actual), _ = repair(messages, rules=rules)

    assert actual.results[0].output == "x" * 260 + "... [740 characters cut]"


def test_signed_thinking_that_is_too_long_goes_whole():
    thought = ThinkingPart(text="x" * 1000, signature="s")

    actual, _ = repair([ASK, response(thought, TEXT), ASK], rules=Rules(max_message_chars=300))

    assert [ASK, response(TEXT), ASK] == actual


def test_where_the_whole_is_too_large_the_oldest_outputs_are_cut_first():
    rounds = [
        message
        for n in range(3)
        for message in (response(call(f"c{n}")), answers(answer(f"c{n}", str(n) * 1000)))
    ]
    rules = Rules(max_total_chars=2500)

    actual, notes = repair([ASK, *rounds], rules=rules)

    assert [len(m.results[0].output) for m in actual[2::2]] == [184, 1000, 1000]
    assert actual[2].results[0].output.endswith("... [840 characters cut]")
    assert notes == ["The conversation was too large: the oldest outputs were cut."]


def test_what_cannot_be_cut_is_left_for_compaction():  # spec: B9
    messages = [UserMessage(text="x" * 5000)]

    assert (messages, []) == repair(messages, rules=Rules(max_total_chars=100))


def test_a_provider_without_signatures_gets_its_own_thinking_back():
    messages = [ASK, response(ThinkingPart(text="hm"), TEXT), ASK]
    rules = Rules(provider="p", thinking_needs_signature=False)

    assert (messages, []) == repair(messages, rules=rules)


def test_results_may_stand_in_any_order():
    messages = [ASK, response(call("a"), call("b")), answers(answer("b"), answer("a"))]

    assert validate(messages, rules=RULES) == []
    assert (messages, []) == repair(messages, rules=RULES)


def test_the_same_fault_is_told_in_the_same_words():
    messages = [ASK, response(call()), ASK]

    assert repair(messages, rules=RULES)[1] == repair([*messages, ASK], rules=RULES)[1]


def test_an_id_that_was_changed_does_not_take_another_calls_id():
    messages = [ASK, response(call("a|b"), call("a_b")), answers(answer("a|b"), answer("a_b", "2"))]

    actual, _ = repair(messages, rules=RULES)

    expected = [answer("a_b-2"), answer("a_b", "2")]
    assert expected == list(actual[2].results)


# --- for every conversation ------------------------------------------------------------------

words = st.text(
    st.one_of(
        st.sampled_from('ab \n|-_{}[]"\\:1\ud83c\udf89\u2028\x00é'),
        st.characters(exclude_categories=[]),
    ),
    max_size=8,
)
long_words = st.one_of(words, st.integers(150, 400).map(lambda n: "y" * n))
ids = st.one_of(st.sampled_from(["c1", "c2", "c3", "c1-2", "a|b", "a_b"]), words)
names = st.one_of(st.sampled_from(["read", "Read file", ""]), words)
arguments = st.one_of(
    st.just("{}"),
    words,
    st.sampled_from(['{"a": "\\ud83c"}', "[]", '{"a": NaN}', '{"a"', "{}}"]),
    st.dictionaries(words, words, max_size=2).map(json.dumps),
)
maybe = st.one_of(st.none(), words)
parts = st.one_of(
    st.builds(TextPart, text=long_words, signature=maybe),
    st.builds(ThinkingPart, text=long_words, signature=maybe, redacted=st.booleans()),
    st.builds(CallPart, id=ids, name=names, arguments=arguments, signature=maybe),
)
outputs = st.builds(
    Result, call=ids, name=names, output=long_words, failed=st.booleans(), synthetic=st.booleans()
)
lists = st.lists(
    st.one_of(
        st.builds(UserMessage, text=st.one_of(st.none(), long_words), briefing=maybe),
        st.builds(
            AssistantMessage,
            round=st.integers(1, 3),
            parts=st.lists(parts, max_size=4).map(tuple),
            model=st.sampled_from(["m", "n", ""]),
            provider=st.sampled_from(["p", "q", ""]),
            partial=st.booleans(),
        ),
        st.builds(ResultsMessage, results=st.lists(outputs, max_size=4).map(tuple)),
    ),
    max_size=8,
)
rules = st.builds(
    Rules,
    provider=st.sampled_from(["p", ""]),
    model=st.sampled_from(["m", ""]),
    max_message_chars=st.sampled_from([0, 250, 10_000]),
    max_total_chars=st.sampled_from([None, 0, 500, 10_000]),
    thinking_needs_signature=st.booleans(),
)


@given(lists, rules)
def test_any_messages_can_be_repaired_once_and_for_all(messages, rules):
    repaired, notes = repair(messages, rules=rules)

    assert validate(repaired, rules=rules) == []
    assert ([], repaired) == (again := repair(repaired, rules=rules))[::-1]
    assert all(map(is_, repaired, again[0]))
    assert (notes == []) == (validate(messages, rules=rules) == [])
    assert repaired == msgspec.json.decode(
        msgspec.json.encode(repaired), type=list[UserMessage | AssistantMessage | ResultsMessage]
    )


@given(lists, rules)
def test_repair_keeps_every_call_that_was_asked_for_once(messages, rules):
    repaired, _ = repair(messages, rules=rules)

    def count(several):
        responses = [m for m in several if isinstance(m, AssistantMessage)]
        return [len({c.id for c in m.calls}) for m in responses if m.calls]

    assert count(messages) == count(repaired)


numbers = st.integers(1, 3)
texts = st.text("abc", max_size=4)
call_ids = st.sampled_from(["c1", "c2", "c3"])
calls = st.builds(
    Call, id=call_ids, name=st.just("read"), arguments=arguments, part=st.integers(0, 3)
)
histories = st.lists(
    st.one_of(
        st.builds(
            e.RunStarted,
            run=numbers,
            cause=st.just(Cause.PROMPT),
            limits=st.just(Limits()),
            text=st.one_of(st.none(), texts),
            briefing=st.one_of(st.none(), texts),
        ),
        st.builds(e.RoundStarted, round=numbers, attempt=st.integers(1, 2)),
        st.builds(
            e.TextSaved, round=numbers, text=texts, offset=st.integers(0, 5), part=st.integers(0, 2)
        ),
        st.builds(e.ThinkingSaved, round=numbers, text=texts, part=st.integers(0, 2)),
        st.builds(
            e.ResponseFinished,
            round=numbers,
            calls=st.lists(calls, max_size=3).map(tuple),
            model=st.just("m"),
            provider=st.just("p"),
            signatures=st.lists(
                st.builds(e.Signature, part=st.integers(0, 3), value=words, redacted=st.booleans()),
                max_size=2,
            ).map(tuple),
        ),
        st.builds(e.ResponseDropped, round=numbers),
        st.builds(e.CallObserved, round=numbers, call=calls),
        st.builds(e.CallIntended, call=call_ids, attempt=st.integers(1, 2)),
        st.builds(e.CallFinished, call=call_ids, output=texts, attempt=st.integers(1, 2)),
        st.builds(e.CallClosed, call=call_ids, how=st.sampled_from(e.Closing), output=texts),
        st.builds(e.ConversationCompacted, summary=texts, kept_from=st.integers(0, 9)),
        st.builds(
            e.Rewound,
            round=numbers,
            code=st.booleans(),
            conversation=st.booleans(),
            message_count=st.integers(0, 9),
        ),
    ),
    max_size=30,
)


@given(histories)
def test_whatever_happened_can_be_sent_once_repaired(events):  # spec: P6
    conversation = build(events)

    sent, _ = repair(conversation.to_send(), rules=RULES)

    assert validate(sent, rules=RULES) == []


@given(histories)
def test_a_conversation_only_ever_has_results_right_after_their_calls(events):
    messages = build(events).messages()

    for before, message in zip([None, *messages], messages, strict=False):
        if isinstance(message, ResultsMessage):
            assert {r.call for r in message.results} <= {c.id for c in before.calls}


@given(histories, st.integers(0, 30))
def test_looking_at_a_conversation_does_not_change_it(events, at):
    looked_at = build(events[:at])
    looked_at.messages()
    looked_at.to_send()
    looked_at.extend(events[at:])

    assert build(events).messages() == looked_at.messages()


def test_the_limit_below_which_nothing_is_cut_leaves_room_for_the_note():
    assert SHORTEST > 100
