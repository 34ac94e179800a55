"""Through the real libraries of each provider, against a scripted server: what is said and heard."""
# spec: B1 B7

import asyncio
import json
from contextlib import aclosing

import pytest

from holdfast.agents.builtin.model import TextPiece
from holdfast.core.messages import UserMessage
from tests.agents.builtin.providers import lines

pytestmark = pytest.mark.slow  # the libraries take seconds to load
GO = UserMessage(text="go")


def run(story):
    return asyncio.run(story)


@pytest.mark.parametrize("name", lines.ALL)
def test_a_text_a_call_and_a_second_turn_with_its_result(name):
    async def story():
        call = {"name": "read", "input": {"path": "a.txt"}}
        first = {"text": "I will look. äöü", "tool_calls": [call]}
        first["usage"] = {"input": 100, "output": 7}
        async with lines.talking(name, first, {"text": "all is well"}) as (server, model):
            one = await lines.heard(model)
            assert lines.text(one) == "I will look. äöü"
            (asked,) = lines.calls(one)
            assert (asked.name, json.loads(asked.arguments)) == ("read", {"path": "a.txt"})
            end = lines.ended(one)
            assert (end.model, end.provider) == (name, name.partition(":")[0])
            assert (end.usage.input_tokens, end.usage.output_tokens) == (100, 7)
            assert end.message_id
            two = await lines.heard(model, lines.request(GO, *lines.turn(one, "its content")))
            assert lines.text(two) == "all is well" and not lines.calls(two)
            said = json.dumps(server.asked[1].body)
            assert said.count("I will look.") == 1 and said.count("its content") == 1
            assert "You are a test." in said and server.asked[1].asked.tools == ("read",)

    run(story())


def test_thinking_comes_back_with_its_signature_byte_for_byte():
    async def story():
        call = {"name": "read", "input": {"path": "a"}}
        first = {"thinking": "let me see", "text": "hm", "tool_calls": [call]}
        async with lines.talking(lines.ANTHROPIC, first, {"text": "ok"}) as (server, model):
            one = await lines.heard(model)
            assert lines.thinking(one) == "let me see"
            (signature,) = lines.ended(one).signatures
            await lines.heard(model, lines.request(GO, *lines.turn(one, "out")))
            sent = server.asked[1].body["messages"][1]["content"]
            assert sent[0] == {
                "type": "thinking",
                "thinking": "let me see",
                "signature": signature.value,
            }
            assert signature.value and not signature.value.startswith("{")

    run(story())


def test_nothing_refers_to_what_a_provider_would_have_to_store():
    async def story():
        call = {"name": "read", "input": {"path": "a"}}
        first = {"thinking": "let me see", "text": "hm", "tool_calls": [call]}
        async with lines.talking(lines.RESPONSES, first, {"text": "ok"}) as (server, model):
            one = await lines.heard(model)
            assert lines.thinking(one) == "let me see"
            await lines.heard(model, lines.request(GO, *lines.turn(one, "out")))
            body = server.asked[1].body
            assert body["store"] is False and "previous_response_id" not in body
            kinds = [item.get("type", item.get("role")) for item in body["input"]]
            assert kinds == ["user", "assistant", "function_call", "function_call_output"]
            assert not any("id" in item for item in body["input"])

    run(story())


@pytest.mark.parametrize("name", lines.ALL)
def test_closing_in_the_middle_closes_the_connection(name):
    async def story():
        slow = {"text": "word " * 8_000, "chunk_ms": 20}
        async with lines.talking(name, slow) as (server, model):
            async with aclosing(model.stream(lines.request())) as pieces:
                async for piece in pieces:
                    assert isinstance(piece, TextPiece)
                    break
            async with asyncio.timeout(60):
                while server._open:
                    await asyncio.sleep(0.01)

    run(story())


def test_a_server_that_knows_only_the_older_api_is_spoken_to_in_it():
    async def story():
        only_chat = {"text": "hello", "fail": {"status": 404}}
        async with lines.talking("openai:local-model", only_chat) as (server, model):
            pieces = await lines.heard(model)
            assert lines.text(pieces) == "hello"
            assert [r.path for r in server.requests] == ["/v1/responses", "/v1/chat/completions"]
            assert lines.ended(pieces).model == "openai:local-model"

    run(story())
