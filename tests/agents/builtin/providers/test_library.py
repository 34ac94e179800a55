"""Our words into the library's and back, where a scripted server has no words for it."""
# spec: B1 B10

import pytest

from holdfast.core.budget import Usage
from holdfast.core.ids import CallId, RoundNumber
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Result,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    UserMessage,
)

pytestmark = pytest.mark.slow  # the library takes seconds to load


class System:
    """As much of a model as a translation looks at."""

    system = canonical_system = "google"
    model_name = "gemini"


def back(part, signature):
    """The core's part, as the library gets it again."""
    from holdfast.agents.builtin.providers import library  # noqa: PLC0415

    message = AssistantMessage(round=RoundNumber(1), parts=(part(signature),))
    (response,) = library.history([message], System())
    return response.parts[0]


def test_fields_of_a_provider_come_back_as_they_were():
    from pydantic_ai import messages as m  # noqa: PLC0415

    from holdfast.agents.builtin.providers import library  # noqa: PLC0415

    details = {"thought_signature": "YWJj/+=="}
    asked = m.ToolCallPart("read", {"a": 1}, "c1", id="fc_1", provider_details=details)
    sign = library._signature(0, asked)
    got = back(lambda s: CallPart(id=CallId("c1"), name="read", signature=s), sign.value)
    assert (got.provider_details, got.provider_name, got.id) == (details, "google", None)
    thought = m.ThinkingPart("hm", id="rs_1", signature="gAAA", provider_name="openai")
    sign = library._signature(0, thought)
    got = back(lambda s: ThinkingPart(text="hm", signature=s), sign.value)
    assert (got.id, got.signature) == ("rs_1", "gAAA")
    thought = m.ThinkingPart("hm", id="reasoning_content", provider_name="deepseek")
    got = back(lambda s: ThinkingPart(text="hm", signature=s), library._signature(0, thought).value)
    assert (got.id, got.signature, got.content) == ("reasoning_content", None, "hm")


def test_hidden_thinking_comes_back_hidden():
    from pydantic_ai import messages as m  # noqa: PLC0415

    from holdfast.agents.builtin.providers import library  # noqa: PLC0415

    hidden = m.ThinkingPart("", id="redacted_thinking", signature="Eu8B", provider_name="anthropic")
    sign = library._signature(3, hidden)
    assert (sign.part, sign.value, sign.redacted) == (3, "Eu8B", True)
    got = back(lambda s: ThinkingPart(signature=s, redacted=True), sign.value)
    assert (got.id, got.signature) == ("redacted_thinking", "Eu8B")


def test_plain_words_carry_nothing_of_a_provider():
    from pydantic_ai import messages as m  # noqa: PLC0415

    from holdfast.agents.builtin.providers import library  # noqa: PLC0415

    assert library._signature(0, m.TextPart("hi", id="msg_1")) is None
    assert library._signature(0, m.ToolCallPart("read", "{}", "c", id="fc_1")) is None
    got = back(lambda s: TextPart(text="hi", signature=s), None)
    assert (got.provider_name, got.provider_details, got.id) == (None, None, None)


def test_results_and_words_of_the_user_are_one_turn():
    from holdfast.agents.builtin.providers import library  # noqa: PLC0415

    call = CallPart(id=CallId("c"), name="read")
    failed = Result(call=CallId("c"), name="read", output="no", failed=True)
    history = library.history(
        [
            UserMessage(text="go"),
            AssistantMessage(round=RoundNumber(1), parts=(call,)),
            ResultsMessage(results=(failed,)),
            UserMessage(briefing="You were cut off.", text="go on"),
        ],
        System(),
    )
    assert [type(message).__name__ for message in history] == [
        "ModelRequest",
        "ModelResponse",
        "ModelRequest",
    ]
    result, words = history[2].parts
    assert (result.outcome, words.content) == ("failed", "You were cut off.\n\ngo on")


async def test_a_price_is_counted_up_and_none_is_not_zero():
    from holdfast.agents.builtin.providers.prices import priced  # noqa: PLC0415

    usage = Usage(input_tokens=1_000_000, output_tokens=0)
    known = await priced(usage, provider="anthropic", model="claude-sonnet-4-5")
    assert (known.cost_micros, known.unpriced) == (pytest.approx(3_000_000, rel=1), 0)
    cached = await priced(
        Usage(input_tokens=1_000_000, cache_read_tokens=1_000_000),
        provider="anthropic",
        model="claude-sonnet-4-5",
    )
    assert 0 < cached.cost_micros < known.cost_micros
    unknown = await priced(usage, provider="openai-chat", model="nobody-knows-me")
    assert (unknown.cost_micros, unknown.unpriced) == (0, 1)
    one = await priced(Usage(input_tokens=1), provider="openai", model="gpt-5")
    assert one.cost_micros >= 1


def test_a_package_that_is_missing_is_no_trouble_of_the_network():  # spec: B1 B7
    """Waiting would not bring it."""
    from holdfast.agents.builtin.providers.library import failure  # noqa: PLC0415  heavy
    from holdfast.agents.builtin.providers.paced import Patience  # noqa: PLC0415  heavy

    error = ImportError("Please install the `xai-sdk` package")
    failed = failure(error, who="xai", patience=Patience(), now_ms=0)
    assert (failed.error, failed.message) == ("bad_request", f"xai: {error}")
