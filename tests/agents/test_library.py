"""The library, without the daemon: the same store, the same leases, the same promises."""

# spec: B1, B3, A7, D7

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import aclosing
from pathlib import Path

import pytest

from holdfast import Agent, tool
from holdfast.core import events as e
from holdfast.core.budget import Limits
from holdfast.ports import Held
from tests.agents.builtin.house import call, repository

README = Path(__file__).resolve().parents[2] / "README.md"


@tool("idempotent")
def greet(who: str, times: int = 1) -> str:
    """Says hello to somebody."""
    return "hello " * times + who


@pytest.fixture
def place(tmp_path):
    tmp_path.chmod(0o700)
    repository(tmp_path / "repo")
    return tmp_path


def agent(place, *rows, script="script", **more):
    script = place / f"{script}.jsonl"
    script.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return Agent(
        model=f"scripted:{script}",
        workspace=place / "repo",
        home=place / "home",
        **{"mode": "full", **more},
    )


async def test_a_prompt_is_worked_on_to_its_stop(place):
    rows = [{"tool_calls": [call("write", path="a", content="x")]}, {"text": "Done."}]

    result = await agent(place, *rows).run("go", session_id="fix")

    assert (True, "Done.") == (result.completed, result.text)
    assert (place / "repo" / "a").exists()


async def test_a_function_becomes_a_tool_with_an_effect(place):
    rows = [{"tool_calls": [call("greet", who="bob", times=2)]}, {"text": "Greeted."}]
    mine = agent(place, *rows, tools=(greet,))

    events = [event async for event in mine.stream("go")]

    [asked] = [x for x in events if isinstance(x, e.ResponseFinished) and x.calls]
    assert "idempotent" == asked.calls[0].effect
    [finished] = [x for x in events if isinstance(x, e.CallFinished)]
    assert "hello hello bob" == finished.output


async def test_the_same_name_is_the_same_session(place):
    mine = agent(place, {"text": "One."}, {"text": "Two."})

    first = await mine.run("a", session_id="fix the bug")
    second = await mine.run("b", session_id="fix the bug")

    assert first.session_id == second.session_id
    assert ("One.", "Two.") == (first.text, second.text)


@tool()
def fail(why: str) -> str:
    """Never works."""
    raise ValueError(f"{why}, in {threading.current_thread().name}")


async def test_what_a_tool_raises_is_told_to_the_model_and_others_do_not_wait_for_it(place):
    rows = [{"tool_calls": [call("fail", why="no")]}, {"text": "I see."}]
    mine = agent(place, *rows, tools=(fail,))

    events = [event async for event in mine.stream("go")]

    [finished] = [x for x in events if isinstance(x, e.CallFinished)]
    assert finished.failed and finished.output.startswith("ValueError: no, in ")
    assert "MainThread" not in finished.output
    [stopped] = [x for x in events if isinstance(x, e.RunStopped)]
    assert "completed" == stopped.stop.reason


async def test_what_an_agent_is_made_with_holds_for_a_session_that_is_there(place):
    rows = [{"tool_calls": [call("list")]} for _ in range(2)]
    await agent(place, {"text": "One."}).run("a", session_id="fix")
    other = agent(place, {}, *rows, script="other", limits=Limits(rounds=1))

    second = await other.run("b", session_id="fix")

    assert "round_limit" == second.stop.reason


async def test_questions_are_answered_by_whoever_was_named_for_it(place):
    rows = [{"tool_calls": [call("write", path="a", content="x")]}, {"text": "Done."}]
    await agent(place, *rows, mode="ask").run("go", session_id="nobody")
    assert not (place / "repo" / "a").exists()

    asked = []
    mine = agent(place, *rows, mode="ask", on_question=lambda it: asked.append(it.text) or "yes")
    result = await mine.run("go", session_id="somebody")
    assert (True, 1) == (result.completed, len(asked))
    assert (place / "repo" / "a").exists()


KILLED = """
import asyncio, sys
from holdfast import Agent
agent = Agent(model="scripted:" + sys.argv[1], workspace=sys.argv[2], home=sys.argv[3], mode="full")
asyncio.run(agent.run("go", session_id="fix"))
"""


async def test_killed_half_way_the_same_call_carries_on(place):
    nap = call("shell", command="echo ran >> ledger; sleep 30")
    mine = agent(place, {"text": "A nap.", "tool_calls": [nap]}, {"text": "Awake."})
    script, repo, home = place / "script.jsonl", place / "repo", place / "home"
    child = subprocess.Popen([sys.executable, "-c", KILLED, script, repo, home])
    while not (repo / "ledger").exists():
        assert child.poll() is None
        await asyncio.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()

    result = await mine.run(None, session_id="fix", is_resume=True)

    assert (True, "Awake.") == (result.completed, result.text)
    assert "ran\n" == (repo / "ledger").read_text()


async def test_two_owners_of_one_session_are_impossible(place):
    slow = {"text": "word " * 2_000, "chunk_ms": 10}
    first, second = agent(place, slow), agent(place, slow)
    async with aclosing(first.stream("a", session_id="one")) as events:
        async for event in events:
            if isinstance(event, e.RoundStarted):  # it is at work: whoever comes now is second
                break
        with pytest.raises(Held):
            await second.run("b", session_id="one")


def test_the_example_of_the_readme_runs(place):
    [example] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (place / "repo" / "plan.jsonl").write_text('{"text": "The tests pass."}\n')
    env = {**os.environ, "HOLDFAST_HOME": str(place / "home")}

    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=place / "repo",
        env=env,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )

    assert "completed The tests pass." == done.stdout.strip(), done.stderr
