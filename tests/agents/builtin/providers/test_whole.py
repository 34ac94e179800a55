"""A whole system with a real provider's library, against a scripted server."""
# spec: B1 B4 B7 B13 D6

import asyncio
import json
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.session import ErrorClass, StopReason
from holdfast.server.desk import Unfit
from holdfast.testing.model_server import ModelServer
from tests.agents.builtin.house import House, call
from tests.agents.builtin.providers import lines

pytestmark = pytest.mark.slow  # the libraries take seconds to load
MODELS = [lines.ANTHROPIC, lines.CHAT, lines.RESPONSES, lines.GEMINI]


def run(story):
    return asyncio.run(story)


@asynccontextmanager
async def home(folder, *replies):
    async with ModelServer(replies) as server, House(folder) as house:
        yield server, house


@pytest.mark.parametrize("name", MODELS)
def test_a_run_reads_a_file_and_says_what_is_in_it(tmp_path, name):
    async def story():
        replies = [{"text": "I look.", "tool_calls": [call("read", path="hello.txt")]}]
        replies.append({"text": "It says hello.", "usage": {"input": 1000, "output": 10}})
        async with home(tmp_path, *replies) as (server, house):
            session = await house.run(model=name, environ=lines.environ(server.url))
            assert session.last_stop.reason is StopReason.COMPLETED, session.last_stop
            said = json.dumps(server.asked[1].body)
            assert said.count("I look.") == 1 and said.count("hello") > said.count("hello.txt")
            assert session.totals.input_tokens == 1000
            assert session.totals.cost_micros > 0 and session.totals.unpriced == 0
            raw = "".join(map(str, await house.engine.journal.events(session.id)))
            assert lines.KEY not in raw

    run(story())


@pytest.mark.parametrize("name", MODELS)
def test_what_was_cut_off_goes_on_and_each_turn_is_sent_once(tmp_path, name):
    async def story():
        first = {"text": "I look.", "tool_calls": [call("read", path="hello.txt")]}
        slow = {"text": "half of it " * 200, "chunk_ms": 20}
        async with ModelServer([first, slow, {"text": "The end."}]) as server:
            async with House(tmp_path) as house:
                id = await house.open(model=name, environ=lines.environ(server.url))
                await house.send(id, "look at the file")
                await house.until(id, lambda s: "half of it" in s.response.text)
            async with House(tmp_path) as house:
                house.system.lend(id, lines.environ(server.url))
                await house.engine.submit(id, i.ContinueRun())
                session = await house.until(
                    id, lambda s: s.run is None and s.last_stop.reason is StopReason.COMPLETED
                )
                assert session.responses == 2
            said = json.dumps(server.asked[2].body)
            assert said.count("look at the file") >= 1 and said.count("I look.") == 1
            assert len(server.asked) == 3

    run(story())


def test_a_run_without_a_key_stops_and_says_which_is_missing(tmp_path):
    async def story():
        async with House(tmp_path) as house:
            session = await house.run(model=lines.ANTHROPIC)
            stop = session.last_stop
            assert (stop.reason, stop.error) == (StopReason.ERROR, ErrorClass.AUTH)
            assert "ANTHROPIC_API_KEY" in stop.message

    run(story())


def test_a_key_beside_the_configuration_is_used_and_must_be_ours_alone(tmp_path):
    async def story():
        async with home(tmp_path, {"text": "hello"}) as (server, house):
            file = house.home / "env"
            pairs = lines.environ(server.url).items()
            file.write_text("".join(f"{name}={value}\n" for name, value in pairs))
            file.chmod(0o644)
            with pytest.raises(Unfit, match="chmod 600"):
                await house.open(model=lines.CHAT)
            file.chmod(0o600)
            id = await house.open(model=lines.CHAT)
            file.chmod(0o644)
            await house.send(id)
            session = await house.stopped(id)
            assert session.last_stop.error is ErrorClass.AUTH
            assert "chmod 600" in session.last_stop.message and not server.requests
            file.chmod(0o600)
            await house.send(session.id, "again")
            await house.until(session.id, lambda s: s.responses == 1)
            assert server.requests[0].headers["authorization"] == f"Bearer {lines.KEY}"

    run(story())


def test_a_refused_key_ends_the_run_without_another_try(tmp_path):
    async def story():
        reply = {"text": "never", "fail": {"status": 401, "times": 9}}
        async with home(tmp_path, reply) as (server, house):
            session = await house.run(model=lines.ANTHROPIC, environ=lines.environ(server.url))
            stop = session.last_stop
            assert (stop.error, stop.evidence.status) == (ErrorClass.AUTH, 401)
            assert len(server.requests) == 1

    run(story())


REFUSED = "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_signatures_that_are_refused_are_left_out_and_it_is_asked_again_once(tmp_path):
    async def story():
        first = {"thinking": "hm", "tool_calls": [call("read", path="hello.txt")]}
        bad = {"text": "fine", "fail": {"status": 400, "message": REFUSED}}
        async with home(tmp_path, first, bad) as (server, house):
            session = await house.run(model=lines.ANTHROPIC, environ=lines.environ(server.url))
            assert session.last_stop.reason is StopReason.COMPLETED
            sent = [json.dumps(r.body["messages"]) for r in server.asked]
            assert ['"thinking"' in body for body in sent] == [False, True, False]
            assert await house.events(session.id, e.ConversationRepaired)
        async with home(tmp_path / "b", first, {**bad, "fail": {**bad["fail"], "times": 9}}) as (
            server,
            house,
        ):
            session = await house.run(model=lines.ANTHROPIC, environ=lines.environ(server.url))
            assert session.last_stop.error is ErrorClass.CORRUPT_REASONING
            assert len(server.asked) == 3

    (tmp_path / "b").mkdir()
    run(story())


def test_a_wait_of_more_than_a_minute_is_not_waited(tmp_path):
    async def story():
        reply = {"text": "never", "fail": {"status": 429, "retry_after": 3600, "times": 9}}
        async with home(tmp_path, reply) as (server, house):
            before = time.time() * 1000
            session = await house.run(model=lines.RESPONSES, environ=lines.environ(server.url))
            stop = session.last_stop
            assert stop.reason is StopReason.RATE_LIMITED and len(server.requests) == 1
            assert stop.resumes_at >= before + 3_600_000

    run(story())


def test_a_cancel_in_the_middle_hangs_up(tmp_path):
    async def story():
        slow = {"text": "word " * 4_000, "chunk_ms": 20}
        async with home(tmp_path, slow) as (server, house):
            id = await house.open(model=lines.GEMINI, environ=lines.environ(server.url))
            await house.send(id)
            await house.until(id, lambda s: "word" in s.response.text)
            await house.engine.submit(id, i.CancelRun())
            session = await house.stopped(id)
            assert session.last_stop.reason is StopReason.CANCELLED
            async with asyncio.timeout(30):
                while server._open:
                    await asyncio.sleep(0.01)

    run(story())


def test_money_that_cannot_be_counted_is_said(tmp_path):
    async def story():
        replies = [{"tool_calls": [call("read", path="hello.txt")]}, {"text": "ok"}]
        async with home(tmp_path, *replies) as (server, house):
            environ = lines.environ(server.url)
            id = await house.open(model="openai-chat:nobody-knows-me", environ=environ)
            await house.send(id, limits=Limits(cost_micros=1_000_000))
            session = await house.stopped(id)
            assert session.totals.unpriced == 2 and session.totals.cost_micros == 0
            notices = [n for n in await house.events(id, e.Notice) if n.kind == "price"]
            assert len(notices) == 1 and "nobody-knows-me" in notices[0].text
            assert "--budget-tokens" in notices[0].text

    run(story())


# --- which model ----------------------------------------------------------------------------------


def test_without_a_name_the_first_key_decides(tmp_path):
    async def story():
        async with home(tmp_path, {"text": "hello"}) as (server, house):
            environ = lines.environ(server.url)
            environ.pop("ANTHROPIC_API_KEY")
            session = await house.run(model=None, environ=environ)
            assert session.model.startswith("openai:")
            assert session.last_stop.reason is StopReason.COMPLETED

    run(story())


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (None, "Installed: anthropic"),
        ("antropic:claude-sonnet-5-5", "Did you mean anthropic:claude-sonnet-5-5?"),
        ("anthropic:claude-sonet-5-5", "Did you mean anthropic:claude-sonnet-5-5?"),
        ("claude-sonnet-5-5", "Did you mean anthropic:claude-sonnet-5-5?"),
        ("scripted:", "scripted:FILE"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_started(tmp_path, model, says):
    async def story():
        async with House(tmp_path) as house:
            with pytest.raises(Unfit) as caught:
                await house.open(model=model)
            assert says in str(caught.value)
            assert not await house.engine.journal.rows()

    run(story())


# --- memory ---------------------------------------------------------------------------------------

PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.agents.builtin.house import House

async def story():
    async with House(Path(sys.argv[1]), {"text": "hello"}) as house:
        session = await house.run()
        assert session.responses == 1
    heavy = ("pydantic_ai", "anthropic", "openai", "google.genai", "genai_prices", "httpx2")
    print([name for name in heavy if name in sys.modules])

asyncio.run(story())
"""


def test_no_library_is_loaded_before_a_run_needs_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
