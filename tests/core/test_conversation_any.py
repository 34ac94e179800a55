"""For every conversation there may be: repaired once, it is in order. spec: B10, P6."""

import json
from operator import is_

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core.budget import Limits
from holdfast.core.conversation import build
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Result,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    UserMessage,
)
from holdfast.core.repair import repair
from holdfast.core.session import Call, Cause
from holdfast.core.validate import SHORTEST, Rules, validate

RULES = Rules(provider="p", model="m")

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
