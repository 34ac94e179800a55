"""Agents that cannot be used: one clear sentence each, nothing left behind, nothing waited for in vain."""

# spec: M1, E17, E8, G7, E9

import time

import pytest

from holdfast.agents.acp.profile import Waits
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.session import ErrorClass, State, StopReason
from holdfast.core.value import replace
from holdfast.runtimes.processes import carrying
from tests.agents.acp.rig import ID, Rig, rig, text

HASTY = Waits(ready=0.7, cancel=1, quiet=60, replay=0.1)


async def test_one_that_is_not_installed(tmp_path):
    async with rig(tmp_path, command=("no-such-agent", "--acp")) as r:
        await r.send()
        session = await r.until(lambda s: s.terminal)
        assert State.FAILED is session.state
        (failed,) = await r.events(e.SessionFailed)
        assert "scripted is not installed: no-such-agent is not on the PATH." == failed.message


async def test_one_that_is_no_program(tmp_path):
    (tmp_path / "agent").write_text("#!/no/such/interpreter\n")
    (tmp_path / "agent").chmod(0o700)
    async with rig(tmp_path, command=(str(tmp_path / "agent"),)) as r:
        await r.send()
        await r.until(lambda s: s.terminal)
        (failed,) = await r.events(e.SessionFailed)
        assert "could not be started: No such file or directory." in failed.message


async def test_one_that_never_answers(tmp_path):
    async with rig(tmp_path, waits=HASTY, init="never") as r:
        begun = time.monotonic()
        session = await r.run()
        assert "did not answer initialize within 1 s" in session.last_stop.message
        assert (StopReason.ERROR, 1) == (session.last_stop.reason, session.launches)
        assert time.monotonic() - begun < 30 and [] == carrying(ID)


async def test_one_that_talks_nonsense(tmp_path):
    command = ("/bin/sh", "-c", "while :; do echo npm WARN ok; sleep 0.1; done")
    async with rig(tmp_path, waits=replace(HASTY, ready=3.0), command=command) as r:
        session = await r.run()
        assert "Its last words: npm WARN ok" in session.last_stop.message


async def test_one_that_speaks_another_version(tmp_path):
    async with rig(tmp_path, init=2) as r:
        session = await r.run()
        assert session.last_stop.message.startswith("The agent speaks version 2 of the protocol")


async def test_one_that_wants_a_login_says_so_and_keeps_its_session(tmp_path):
    async with rig(tmp_path, auth=True) as r:
        session = await r.run()
        assert (ErrorClass.AUTH, 1) == (session.last_stop.error, session.launches)
        assert State.WAITING_FOR_INPUT is session.state
        assert "Authentication required" in session.last_stop.message


async def test_one_that_dies_at_once_is_tried_twice_and_quoted(tmp_path):
    async with rig(tmp_path, init="exit", last_words="Cannot find module 'x'\n") as r:
        session = await r.run()
        stop = session.last_stop
        assert (StopReason.ERROR, 3, 2) == (stop.reason, stop.evidence.exit_code, session.launches)
        assert "exited with code 3. Its last words: Cannot find module 'x'" in stop.message


async def test_one_that_says_why_it_dies_is_not_tried_again(tmp_path):
    async with rig(tmp_path, init="exit", last_words="Error: API key is missing\n") as r:
        session = await r.run()
        assert (ErrorClass.AUTH, 1) == (session.last_stop.error, session.launches)


async def test_junk_within_a_turn_loses_nothing(tmp_path):
    junk = [{"junk": line} for line in ("null", "[]", "123", "Warning: x", '{"a":', '{"id":77}')]
    async with rig(tmp_path, turns=[[*text("a"), *junk, *text("b")]]) as r:
        session = await r.run()
        assert StopReason.COMPLETED is session.last_stop.reason
        assert ["ab"] == await r.said()


async def test_a_line_of_forty_megabytes_is_a_clear_failure(tmp_path):
    async with rig(tmp_path, turns=[[*text("a"), {"big": 40 << 20}]]) as r:
        session = await r.run()
        assert "It sent a line longer than 32 MB." in session.last_stop.message
        assert ["a"] == await r.said() and not session.agent_alive


async def test_a_flood_on_stderr_is_no_deadlock(tmp_path):
    async with rig(tmp_path, turns=[[{"stderr": 4 << 20}, *text("through")]]) as r:
        await r.run()
        assert ["through"] == await r.said()


async def test_an_orphan_that_ignores_everything_is_gone_with_it(tmp_path):
    async with rig(tmp_path, turns=[[{"orphan": 1}, *text("a"), {"die": 1}]]) as r:
        session = await r.run()
        assert (StopReason.ERROR, 9) == (
            session.last_stop.reason,
            session.last_stop.evidence.signal,
        )
        assert [] == carrying(ID)


async def test_one_that_is_no_longer_known(tmp_path):
    async with rig(tmp_path, turns=[text("a")]) as r:
        await r.run()
        await r.do(i.OwnerLost())
        r.agents._profiles = lambda _session: None
        await r.send()
        session = await r.stopped()
        assert "There is no agent 'scripted' that speaks ACP" in session.last_stop.message


@pytest.mark.parametrize("mode", ["read-only", "ask"])
async def test_a_mode_that_restricts_and_cannot_be_had_refuses_the_prompt(tmp_path, mode):
    async with rig(tmp_path, mode=mode, modes=["build"], turns=[text("a")]) as r:
        session = await r.run()
        assert f"cannot be held to mode {mode!r}, so it gets no prompt" in session.last_stop.message
        assert [] == r.prompts()


async def test_a_model_that_it_does_not_have_is_named(tmp_path):
    opened = Rig(tmp_path, models=["small", "large"])
    opened.model = "huge"
    async with opened as r:
        session = await r.run()
        assert "has no model 'huge'. It offers: small, large." in session.last_stop.message
