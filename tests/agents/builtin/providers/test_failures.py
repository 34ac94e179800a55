"""How real libraries fail against a server that breaks as servers break, and what we make of it."""
# spec: B1 B7

import asyncio
import time

import pytest

from holdfast.agents.builtin.model import ModelFailed
from holdfast.agents.builtin.providers.remote import RemoteModel
from holdfast.core.session import ErrorClass as E
from tests.agents.builtin.providers import lines

pytestmark = pytest.mark.slow  # the libraries take seconds to load


def run(story):
    return asyncio.run(story)


async def failure(name: str, reply: dict, **patience: float) -> tuple[ModelFailed, int]:
    async with lines.talking(name, reply, **patience) as (server, model):
        return await lines.failed(model), len(server.requests)


def broken(status: int, **more: object) -> dict:
    return {"text": "never", "fail": {"status": status, "times": 9, **more}}


STATUSES = [(401, E.AUTH), (402, E.QUOTA), (429, E.RATE_LIMITED), (400, E.BAD_REQUEST)]
STATUSES += [(500, E.OVERLOADED), (529, E.OVERLOADED)]


@pytest.mark.parametrize("name", lines.ALL)
@pytest.mark.parametrize(("status", "error"), STATUSES)
def test_a_refusal_is_classified_and_asked_once(name, status, error):
    failed, requests = run(failure(name, broken(status, message="because")))
    assert (failed.error, failed.status, requests) == (error, status, 1)
    assert "because" in failed.message and lines.KEY not in failed.message


@pytest.mark.parametrize("name", lines.ALL)
def test_the_wait_that_a_provider_asks_for_is_kept(name):
    failed, _ = run(failure(name, broken(429, retry_after=77)))
    assert failed.retry_after_ms == 77_000
    assert failed.message.endswith("answered 429.")  # one full stop


@pytest.mark.parametrize("name", lines.ALL)
def test_a_web_page_is_no_answer(name):
    failed, requests = run(failure(name, {"text": "never", "html": True}))
    assert (failed.error, failed.status, requests) == (E.NETWORK, 200, 1)
    assert "web page" in failed.message


@pytest.mark.parametrize("name", lines.ALL)
@pytest.mark.parametrize("cut", [1, 3])
def test_a_stream_that_is_cut_off_is_no_answer(name, cut):
    reply = {"text": "one two three four five six seven", "cut": cut}
    failed, requests = run(failure(name, reply))
    assert (failed.error, requests) == (E.NETWORK, 1)


@pytest.mark.parametrize("name", lines.ALL)
def test_silence_has_an_end(name):
    begun = time.monotonic()
    failed, requests = run(failure(name, {"text": "never", "hang": True}, silence=0.4))
    assert (failed.error, requests) == (E.NETWORK, 1)
    assert "silent for 0.4 s" in failed.message and time.monotonic() - begun < 60


@pytest.mark.parametrize("name", lines.ALL)
def test_nobody_there_is_the_network(name):
    async def story():
        async with lines.line(connect=2) as line:
            environ = lines.environ("http://127.0.0.1:9")
            failed = await lines.failed(RemoteModel(name, environ, line=line, now=lines.now))
            assert (failed.error, failed.status) == (E.NETWORK, None)

    run(story())


@pytest.mark.parametrize("name", lines.ALL)
def test_without_a_key_nothing_is_sent_and_the_variable_is_named(name):
    async def story():
        async with lines.talking(name, {"text": "never"}) as (server, model):
            kept = {k: v for k, v in model._environ.items() if "KEY" not in k and "OPENAI" not in k}
            kept.pop("DEEPSEEK_BASE_URL")
            model._environ = kept
            failed = await lines.failed(model)
            assert failed.error is E.AUTH and not server.requests
            assert "_API_KEY" in failed.message

    run(story())


def test_a_key_that_is_refused_is_named_by_its_variable_only():
    reply = broken(401, message=f"Incorrect API key provided: {lines.KEY}")
    failed, _ = run(failure(lines.CHAT, reply))
    assert failed.error is E.AUTH
    assert "OPENAI_API_KEY" in failed.message and lines.KEY not in failed.message
