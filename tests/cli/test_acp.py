"""`hold acp` and the official library's client: an editor's durable sessions."""

import asyncio
import contextlib
import os
import signal

import pytest
from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, RequestPermissionResponse

from tests.cli.desk import ASKING, HOLD, QUICK, SLOW, until


class Editor:
    """What an editor remembers of what it was told."""

    def __init__(self):
        self.updates, self.asked = [], []

    def on_connect(self, conn):
        pass

    async def session_update(self, session_id, update, **_):
        self.updates.append(update)

    async def request_permission(self, options, session_id, tool_call, **_):
        self.asked.append((tool_call.title, [o.option_id for o in options]))
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        )

    def text(self, kind="agent_message_chunk"):
        return "".join(u.content.text for u in self.updates if u.session_update == kind)

    def kinds(self):
        return [u.session_update for u in self.updates]


@contextlib.asynccontextmanager
async def editor(user, rows, *options):
    told = Editor()
    arguments = ("acp", "--model", user.script(rows), *options)
    async with spawn_agent_process(
        told, str(HOLD), *arguments, env=user.environ, cwd=user.repo
    ) as (agent, _process):
        ready = await agent.initialize(protocol_version=PROTOCOL_VERSION)
        assert ready.agent_capabilities.load_session
        yield told, agent


async def test_a_turn_is_streamed_and_survives_its_editor(user):  # spec: E16
    async with editor(user, QUICK) as (told, agent):
        made = await agent.new_session(cwd=str(user.repo), mcp_servers=[])
        done = await agent.prompt(session_id=made.session_id, prompt=[text_block("please")])
        assert (done.stop_reason, told.text()) == ("end_turn", "All is well.")
    assert user.session(made.session_id)["last_stop"]["reason"] == "completed"

    async with editor(user, QUICK) as (told, agent):
        listed = await agent.list_sessions(cwd=str(user.repo))
        assert [s.session_id for s in listed.sessions] == [made.session_id]
        await agent.load_session(cwd=str(user.repo), session_id=made.session_id, mcp_servers=[])
        assert told.text("user_message_chunk") == "please"
        assert told.text() == "All is well.", "each word once"


async def test_a_question_is_asked_in_the_editor(user):  # spec: E16 B11
    async with editor(user, ASKING, "--mode", "ask") as (told, agent):
        made = await agent.new_session(cwd=str(user.repo), mcp_servers=[])
        done = await agent.prompt(session_id=made.session_id, prompt=[text_block("write")])
        assert done.stop_reason == "end_turn"
        assert len(told.asked) == 1
        assert "a.txt" in told.asked[0][0]
    assert (user.repo / "a.txt").read_text() == "hello"
    assert "tool_call" in told.kinds()
    assert told.text() == "May I?Thank you."


async def test_a_cancel_ends_the_turn_and_keeps_its_text(user):  # spec: E16 B6
    async with editor(user, SLOW) as (told, agent):
        made = await agent.new_session(cwd=str(user.repo), mcp_servers=[])
        turn = asyncio.ensure_future(
            agent.prompt(session_id=made.session_id, prompt=[text_block("go")])
        )
        while "begun" not in told.text():
            await asyncio.sleep(0.02)
        await agent.cancel(session_id=made.session_id)
        assert (await turn).stop_reason == "cancelled"
    assert "begun" in user.hold("logs", made.session_id).stdout


async def test_a_daemon_that_dies_in_a_turn_ends_it_with_its_stop(user):  # spec: E16 D1
    async with editor(user, SLOW) as (told, agent):
        made = await agent.new_session(cwd=str(user.repo), mcp_servers=[])
        turn = asyncio.ensure_future(
            agent.prompt(session_id=made.session_id, prompt=[text_block("go")])
        )
        while "begun" not in told.text():
            await asyncio.sleep(0.02)
        os.kill(user.pid, signal.SIGKILL)
        with pytest.raises(RequestError) as failed:
            await turn
        assert failed.value.data["reason"] == "interrupted"
        assert made.session_id in failed.value.data["resume"]
    assert until(lambda: user.session(made.session_id)["stop"], "the stop")


async def test_what_is_wrong_is_said_in_the_protocol(user):  # spec: E16 B14 M1
    async with editor(user, QUICK) as (_, agent):
        made = await agent.new_session(cwd=str(user.repo), mcp_servers=[])
        with pytest.raises(RequestError) as image:
            block = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
            await agent.prompt(session_id=made.session_id, prompt=[block])
        with pytest.raises(RequestError) as unknown:
            await agent.load_session(cwd=str(user.repo), session_id="beef", mcp_servers=[])
    assert "Prompts are text" in str(image.value)
    assert unknown.value.code == -32002
