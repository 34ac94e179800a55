"""What a provider would refuse is found, and repaired. spec: B10, P6."""

import pytest

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
from holdfast.core.validate import Fault, Rules, validate

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
