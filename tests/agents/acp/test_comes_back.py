"""Agents that went and come back: how, with what memory, and that nothing is said twice."""

# spec: E3, E5, E6, E9, E10, E12, A9, G3, G5, G6, G7

import asyncio

import pytest

from holdfast.agents.acp.profile import McpServer
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.plan import Strategy
from holdfast.core.session import ErrorClass, State, StopReason
from tests.agents.acp.rig import ID, Rig, rig, text

DIES = [*text("I was ", "about to "), {"tool": {"id": "c1", "title": "Build", "dies": True}}]


async def test_after_a_restart_nothing_starts_by_itself_and_a_prompt_brings_it_back(tmp_path):
    turns = [text("one"), text("two")]
    async with rig(tmp_path, turns=turns) as r:
        await r.run()
    async with rig(tmp_path, turns=turns) as r:
        session = await r.engine.session(ID)
        assert (State.WAITING_FOR_INPUT, False) == (session.state, session.agent_alive)
        assert 1 == len(r.pids())
        session = await r.run("and now?")
        assert Strategy.ACP_RESUME is session.launch.plan.strategy
        assert ["one", "two"] == await r.said()
        assert ["s1"] == [row["params"]["sessionId"] for row in r.asked("session/resume")]
        assert ["go", "and now?"] == r.prompts()


async def test_a_reattach_brings_it_back_idle_and_only_once(tmp_path):
    async with rig(tmp_path, turns=[text("one")]) as r:
        await r.run()
    async with rig(tmp_path, turns=[text("one")]) as r:
        await asyncio.gather(r.do(i.Reattach()), r.do(i.Reattach()))
        await r.until_event(e.Reattached)
        session = await r.do(i.Reattach())
        await r.quiet()
        assert (State.WAITING_FOR_INPUT, True, 2) == (
            session.state,
            session.agent_alive,
            session.launches,
        )
        assert ["go"] == r.prompts() and 2 == len(r.pids())


async def test_a_prompt_that_comes_while_it_is_brought_back_waits_for_it(tmp_path):
    turns = [text("one"), text("two")]
    async with rig(tmp_path, turns=turns) as r:
        await r.run()
    async with rig(tmp_path, turns=turns) as r:
        await r.do(i.Reattach())
        await r.run("quick")
        assert (["one", "two"], 2) == (await r.said(), len(r.pids()))


async def test_a_cancel_while_it_comes_up_wins(tmp_path):
    async with rig(tmp_path, turns=[text("one")]) as r:
        await r.run()
        await r.do(i.OwnerLost())
        r.write(init="never")
        await r.send()
        await r.until_event(e.LaunchStarted, 2)
        await r.do(i.CancelRun())
        session = await r.stopped()
        assert (StopReason.CANCELLED, False) == (session.last_stop.reason, session.agent_alive)
        assert ["go"] == r.prompts()


@pytest.mark.parametrize("replays", ["before", "late"])
async def test_what_it_replays_is_not_written_down_again(tmp_path, replays):
    turns = [text("one ", "word"), text("two")]
    async with rig(tmp_path, can=["load"], replays=replays, turns=turns) as r:
        await r.run()
        await r.do(i.OwnerLost())
        session = await r.run("again")
        assert Strategy.ACP_LOAD is session.launch.plan.strategy
        assert ["one word", "two"] == await r.said()
        assert [] == await r.notices()


async def test_a_turn_that_was_cut_off_is_briefed_and_not_sent_twice(tmp_path):
    async with rig(tmp_path, turns=[DIES, text("and done")]) as r:
        session = await r.run("build it")
        assert (StopReason.ERROR, 9) == (
            session.last_stop.reason,
            session.last_stop.evidence.signal,
        )
        await r.do(i.ContinueRun())
        session = await r.stopped()
        assert Strategy.ACP_LOAD is session.launch.plan.strategy  # a turn was in flight
        first, second = r.prompts()
        assert "build it" == first and second.startswith("[SESSION_RESUMED]")
        assert "build it" not in second and "Build" in second
        assert ["I was about to ", "and done"] == await r.said()
        closed = await r.events(e.CallClosed)
        assert [("c1", "unknown")] == [(c.call, c.how) for c in closed]


async def test_a_prompt_that_the_replay_proves_lost_is_sent_again(tmp_path):
    turns = [text("one"), [{"die": 1}], text("two")]
    async with rig(tmp_path, turns=turns) as r:
        await r.run("first")
        r.write(turns=turns, forgets_prompt=True)
        await r.do(i.OwnerLost())
        await r.run("second")  # it dies, and had not even kept the words
        r.write(turns=turns, from_turn=1)
        await r.do(i.ContinueRun())
        await r.stopped()
        assert any("never got the last prompt" in notice for notice in await r.notices())
        assert r.prompts()[-1].startswith("second\n\n[")
        assert ["one", "two"] == await r.said()


async def test_an_agent_without_a_memory_gets_ours_once(tmp_path):
    turns = [text("I am one."), text("two"), text("three")]
    async with rig(tmp_path, can=[], turns=turns) as r:
        await r.run("count")
        await r.do(i.OwnerLost())
        session = await r.run("go on")
        assert Strategy.INJECT is session.launch.plan.strategy and not session.inject
        await r.run("and on")
        told = r.prompts()[1]
        assert told.startswith("RESUME CONTEXT FOR CONTINUING TASK\n")
        assert "[USER]: count\n[ASSISTANT]: I am one.\n\n=== CURRENT REQUEST ===\ngo on\n" in told
        assert "and on" == r.prompts()[2]
        (injected,) = await r.events(e.ContextInjected)
        assert len(told) - len("go on") == injected.characters


async def test_one_that_does_not_know_its_conversation_is_started_afresh_with_ours(tmp_path):
    async with rig(tmp_path, turns=[text("one")]) as r:
        await r.run("count")
        await r.do(i.OwnerLost())
        (tmp_path / "script.json.store" / "s1.jsonl").unlink()
        session = await r.run("go on")
        assert (StopReason.COMPLETED, 3) == (session.last_stop.reason, session.launches)
        assert "[USER]: count\n[ASSISTANT]: one" in r.prompts()[1]
        assert "Resource not found" in session.context_lost
        assert [e.TokenDropped] == [type(x) for x in await r.events(e.TokenDropped)]


async def test_a_refused_token_on_opening_leaves_it_waiting_and_the_next_prompt_injects(tmp_path):
    async with rig(tmp_path, turns=[text("one")]) as r:
        await r.run("count")
    async with rig(tmp_path, turns=[text("one")]) as r:
        (tmp_path / "script.json.store" / "s1.jsonl").unlink()
        await r.do(i.Reattach())
        await r.until_event(e.TokenDropped)
        await r.quiet()
        session = await r.engine.session(ID)
        assert (State.WAITING_FOR_INPUT, None, True) == (
            session.state,
            session.token,
            session.inject,
        )
        assert "does not know its earlier conversation" in (await r.notices())[0]
        await r.run("go on")
        assert "[USER]: count" in r.prompts()[1]


async def test_one_that_comes_back_as_another_is_noticed(tmp_path):
    turns = [text("one"), text("two")]
    async with rig(tmp_path, turns=turns) as r:
        await r.run("count")
        await r.do(i.OwnerLost())
        r.write(turns=turns, another_id="s2")
        (tmp_path / "script.json.store" / "s2.jsonl").touch()
        session = await r.run("go on")
        assert "another conversation than s1" in session.context_lost
        assert "[USER]: count" in r.prompts()[1]


async def test_one_that_cannot_do_what_it_could_starts_afresh_visibly(tmp_path):
    turns = [text("one"), text("two")]
    async with rig(tmp_path, turns=turns) as r:
        await r.run("count")
        await r.do(i.OwnerLost())
        r.write(turns=turns, can=[])  # another version of it
        await r.run("go on")
        assert any("cannot bring its conversation back" in n for n in await r.notices())
        assert "[USER]: count" in r.prompts()[1]
        assert 2 == len(r.pids())  # on the same process, not on one more


@pytest.mark.parametrize(
    ("refuses", "error"),
    [
        ([-32000, "Authentication required"], ErrorClass.AUTH),
        ([-32600, "thread_active_writer"], ErrorClass.UNKNOWN),
    ],
)
async def test_a_failed_resume_keeps_the_token(tmp_path, refuses, error):
    async with rig(tmp_path, turns=[text("one")]) as r:
        await r.run()
        await r.do(i.OwnerLost())
        r.write(refuses={"resume": refuses, "load": refuses})
        session = await r.run("go on")
        assert ("s1", error) == (session.token, session.last_stop.error)
        assert ["go"] == r.prompts()


async def test_a_process_that_dies_while_it_loads_is_no_reason_to_forget(tmp_path):
    async with rig(tmp_path, turns=[text("one")], can=["load"]) as r:
        await r.run()
        await r.do(i.OwnerLost())
        r.write(can=["load"], turns=[text("one"), text("two")], crash_at=2)
        session = await r.run("go on")  # it is started once more
        assert ("s1", 3) == (session.token, session.launches)
        assert (["one", "two"], ["go", "go on"]) == (await r.said(), r.prompts())


async def test_its_mode_is_set_again_before_the_first_prompt(tmp_path):
    modes = ["build", "plan"]  # it always comes back in the first
    async with rig(tmp_path, mode="read-only", modes=modes, turns=[text("one")]) as r:
        await r.run()
        await r.do(i.OwnerLost())
        await r.run()
        order = [row["method"] for row in r.asked()]
        assert ["initialize", "session/resume", "session/set_mode", "session/prompt"] == order[-4:]
        assert {"plan"} == {row["params"]["modeId"] for row in r.asked("session/set_mode")}
        await r.do(i.OwnerLost())
        r.write(modes=modes, keeps_mode=True)
        session = await r.run()
        assert "could not be put into mode 'read-only' again" in session.last_stop.message
        assert 2 == len(r.prompts())


async def test_servers_of_the_config_are_passed_every_time(tmp_path):
    opened = Rig(tmp_path, turns=[text("one")])
    opened.servers = (McpServer(name="db", command="/bin/db", args=("-x",), env={"A": "b"}),)
    async with opened as r:
        await r.run()
        await r.do(i.OwnerLost())
        await r.run()
        passed = [
            row["params"]["mcpServers"]
            for row in r.asked()
            if row["method"] in ("session/new", "session/resume")
        ]
        server = {"name": "db", "command": "/bin/db", "args": ["-x"], "env": [{"name": "A", "value": "b"}]}  # fmt: skip
        assert [[server], [server]] == passed


async def test_a_session_handed_to_an_acp_agent_brings_its_history(tmp_path):
    async with rig(tmp_path, turns=[text("one"), text("two")]) as r:
        await r.run("count")
        await r.do(i.ConfigureSession(agent="another"))
        await r.quiet()
        await r.run("go on")
        assert "[USER]: count\n[ASSISTANT]: one" in r.prompts()[1]
        assert 2 == len(r.asked("session/new"))
