"""The scripted model server speaks four dialects, as their own clients understand them."""

import asyncio
import signal
import sys
import warnings
from contextlib import asynccontextmanager

import httpx
import msgspec
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from holdfast.testing.model_server import ModelServer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its source has escapes that Python warns of when it compiles
    from google import genai

WEATHER = {"name": "weather", "input": {"city": "Bergen"}}
REPLY = {
    "text": "It rains in Bergen.",
    "thinking": "Let me see.",
    "tool_calls": [WEATHER],
    "usage": {"input": 11, "output": 7},
}
QUESTION = [{"role": "user", "content": "How is the weather?"}]


@asynccontextmanager
async def anthropic(server):
    async with AsyncAnthropic(api_key="none", base_url=server.url, max_retries=0) as client:
        yield client


@asynccontextmanager
async def openai(server):
    async with AsyncOpenAI(api_key="none", base_url=server.url + "/v1", max_retries=0) as client:
        yield client


@asynccontextmanager
async def gemini(server):
    client = genai.Client(api_key="none", http_options={"base_url": server.url})
    try:
        yield client.aio.models
    finally:
        await client.aio.aclose()
        client.close()


async def test_anthropic_whole_and_streamed():
    async with ModelServer([REPLY, REPLY]) as server, anthropic(server) as client:
        asked = {"model": "m", "max_tokens": 99, "messages": QUESTION}
        whole = await client.messages.create(**asked)
        async with client.messages.stream(**asked) as stream:
            streamed = await stream.get_final_message()
        for message in (whole, streamed):
            thinking, text, call = message.content
            assert thinking.thinking == "Let me see."
            assert text.text == "It rains in Bergen."
            assert (call.name, call.input) == ("weather", {"city": "Bergen"})
            assert message.stop_reason == "tool_use"
            assert (message.usage.input_tokens, message.usage.output_tokens) == (11, 7)
        counted = await client.messages.count_tokens(model="m", messages=QUESTION)
        assert counted.input_tokens > 0
        assert "scripted" in [model.id async for model in client.models.list()]
        assert [r.asked.last_user for r in server.asked] == ["How is the weather?"] * 2


async def test_chat_completions_whole_and_streamed():
    async with ModelServer([REPLY, REPLY]) as server, openai(server) as client:
        asked = {"model": "m", "messages": QUESTION}
        whole = (await client.chat.completions.create(**asked)).choices[0].message
        assert whole.content == "It rains in Bergen."
        assert whole.tool_calls[0].function.arguments == '{"city":"Bergen"}'
        chunks = [
            chunk
            async for chunk in await client.chat.completions.create(
                **asked, stream=True, stream_options={"include_usage": True}
            )
        ]
        deltas = [c.choices[0].delta for c in chunks if c.choices]
        assert "".join(d.content or "" for d in deltas) == "It rains in Bergen."
        assert [d.tool_calls[0].function.name for d in deltas if d.tool_calls] == ["weather"]
        assert chunks[-1].usage.total_tokens == 18


async def test_responses_whole_and_streamed():
    async with ModelServer([REPLY, REPLY]) as server, openai(server) as client:
        whole = await client.responses.create(model="m", input="How is the weather?")
        async with client.responses.stream(model="m", input=QUESTION) as stream:
            deltas = [e.delta async for e in stream if e.type == "response.output_text.delta"]
            streamed = await stream.get_final_response()
        assert len(deltas) == 4
        for response in (whole, streamed):
            assert response.output_text == "It rains in Bergen."
            reasoning, _message, call = response.output
            assert reasoning.summary[0].text == "Let me see."
            assert (call.name, call.arguments) == ("weather", '{"city":"Bergen"}')
            assert response.usage.total_tokens == 18
        assert [r.asked.last_user for r in server.asked] == ["How is the weather?"] * 2


async def test_gemini_whole_and_streamed():
    async with ModelServer([REPLY, REPLY]) as server, gemini(server) as models:
        asked = {"model": "gemini-x", "contents": "How is the weather?"}
        whole = await models.generate_content(**asked)
        streamed = [chunk async for chunk in await models.generate_content_stream(**asked)]
        assert whole.function_calls[0].args == {"city": "Bergen"}
        parts = [p for c in streamed for p in c.candidates[0].content.parts]
        for said in (whole.candidates[0].content.parts, parts):
            spoken = [p for p in said if p.text and not p.thought]
            assert "".join(p.text for p in spoken) == "It rains in Bergen."
            assert [p.function_call.name for p in said if p.function_call] == ["weather"]
        assert streamed[-1].usage_metadata.total_token_count == 18


PLACES = {
    "anthropic": ("/v1/messages", {"model": "m", "messages": QUESTION, "stream": True}),
    "chat": ("/v1/chat/completions", {"model": "m", "messages": QUESTION, "stream": True}),
    "responses": ("/v1/responses", {"model": "m", "input": QUESTION, "stream": True}),
    "gemini": (
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "How is the weather?"}]}]},
    ),
}


@pytest.mark.parametrize("dialect", PLACES)
async def test_it_breaks_as_told_and_then_answers(dialect):
    path, body = PLACES[dialect]
    broken = [
        {"text": "one", "fail": {"status": 429, "retry_after": 3, "times": 2}},
        {"text": "one two three", "cut": 1},
        {"html": True},
        {"hang": True},
    ]
    async with ModelServer(broken) as server, httpx.AsyncClient(base_url=server.url) as http:
        for _ in range(2):
            refused = await http.post(path, json=body)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
            assert "429" in refused.json()["error"]["message"]
        assert "one" in (await http.post(path, json=body)).text
        with pytest.raises(httpx.RemoteProtocolError):
            await http.post(path, json=body)
        page = await http.post(path, json=body)
        assert page.headers["content-type"] == "text/html"
        with pytest.raises(httpx.ReadTimeout):
            await http.post(path, json=body, timeout=0.3)
        assert "done" in (await http.post(path, json=body)).text
        assert len(server.asked) == 7


async def test_a_reply_is_chosen_by_what_was_said_last():
    script = [
        {"text": "ordinary"},
        {"text": "first", "match": "X"},
        {"text": "second", "match": "X"},
    ]
    async with ModelServer(script) as server, httpx.AsyncClient(base_url=server.url) as http:

        async def ask(*messages):
            body = {"model": "m", "messages": list(messages)}
            answer = await http.post("/v1/messages", json=body)
            return answer.json()["content"][0]["text"]

        about_x = {"role": "user", "content": "tell X"}
        result = {"role": "user", "content": [{"type": "tool_result", "content": "7"}]}
        reminder = {"type": "text", "text": "<system-reminder>Y</system-reminder>"}
        result["content"].append(reminder)
        assert await ask(about_x) == "first"
        assert await ask(about_x, {"role": "assistant", "content": "call"}, result) == "second"
        assert await ask(about_x) == "ordinary"
        assert await ask(about_x) == "done"


async def test_what_a_program_asks_for_itself_uses_up_no_reply():
    aside = ModelServer([{"text": "yes"}], only_with_tools=True)
    async with aside as server, httpx.AsyncClient(base_url=server.url) as http:
        body = {"model": "m", "messages": QUESTION}
        tools = [{"name": "weather", "input_schema": {"type": "object"}}]
        title = await http.post("/v1/messages", json=body)
        answer = await http.post("/v1/messages", json={**body, "tools": tools})
        assert title.json()["content"][0]["text"] == "ok"
        assert answer.json()["content"][0]["text"] == "yes"
        assert [r.asked.tools for r in server.asked] == [("weather",)]
        assert (await http.head("/")).status_code == 200
        assert (await http.get("/v1/nothing")).status_code == 404


async def test_it_is_also_a_program(tmp_path):
    script, log = tmp_path / "script.jsonl", tmp_path / "log.jsonl"
    script.write_text('{"text": "hello"}\n')
    program = (sys.executable, "-m", "holdfast.testing.model_server")
    process = await asyncio.create_subprocess_exec(
        *program, "--script", script, "--log", log, stdout=asyncio.subprocess.PIPE
    )
    try:
        url = (await process.stdout.readline()).decode().strip()
        async with httpx.AsyncClient() as http:
            body = {"model": "m", "messages": QUESTION}
            answer = await http.post(url + "/v1/messages", json=body)
        assert answer.json()["content"][0]["text"] == "hello"
        (logged,) = map(msgspec.json.decode, log.read_bytes().splitlines())
        assert logged["body"] == body
    finally:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_a_mistake_in_the_script_is_told_with_its_line(tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "hello"}\n{"txet": 1}\n')
    program = (sys.executable, "-m", "holdfast.testing.model_server", "--script", script)
    process = await asyncio.create_subprocess_exec(*program, stderr=asyncio.subprocess.PIPE)
    _, error = await process.communicate()
    assert process.returncode == 1
    assert error.decode().strip().endswith("line 2: Object contains unknown field `txet`")
