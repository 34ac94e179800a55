"""Our client against an agent written with the official library: do we speak the same protocol?"""

# spec: E2

import sys

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.plan import Strategy
from holdfast.core.session import StopReason
from tests.agents.acp.rig import rig

AGENT = """
import asyncio, json, pathlib, sys
from acp import Agent, RequestError, run_agent, start_tool_call, update_agent_message_text
from acp import update_tool_call, update_user_message_text, tool_content, text_block
from acp.schema import (AgentCapabilities, Implementation, InitializeResponse, LoadSessionResponse,
    NewSessionResponse, PermissionOption, PromptResponse, ToolCallUpdate)

STORE = pathlib.Path(sys.argv[1])

class Official(Agent):
    def on_connect(self, conn): self.conn = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        return InitializeResponse(protocol_version=1, agent_info=Implementation(name="o", version="1"),
            agent_capabilities=AgentCapabilities(load_session=True))

    async def new_session(self, cwd, mcp_servers=None, **_):
        (STORE / "one.json").write_text("[]")
        return NewSessionResponse(session_id="one")

    async def load_session(self, cwd, session_id, mcp_servers=None, **_):
        for user, agent in json.loads((STORE / "one.json").read_text()):
            await self.conn.session_update(session_id, update_user_message_text(user))
            await self.conn.session_update(session_id, update_agent_message_text(agent))
        return LoadSessionResponse()

    async def prompt(self, prompt, session_id, **_):
        said = json.loads((STORE / "one.json").read_text())
        await self.conn.session_update(session_id, start_tool_call("c1", "Edit it", kind="edit"))
        asked = await self.conn.request_permission(session_id=session_id,
            tool_call=ToolCallUpdate(tool_call_id="c1"),
            options=[PermissionOption(option_id="ok", name="Allow", kind="allow_once"),
                     PermissionOption(option_id="no", name="Deny", kind="reject_once")])
        chosen = asked.outcome.option_id
        done = update_tool_call("c1", status="completed", content=[tool_content(text_block(chosen))])
        await self.conn.session_update(session_id, done)
        await self.conn.session_update(session_id, update_agent_message_text("answer %d" % len(said)))
        (STORE / "one.json").write_text(json.dumps([*said, [prompt[0].text, "answer"]]))
        return PromptResponse(stop_reason="end_turn")

asyncio.run(run_agent(Official()))
"""


async def test_a_turn_with_a_question_and_a_load(tmp_path):
    (tmp_path / "agent.py").write_text(AGENT)
    command = (sys.executable, str(tmp_path / "agent.py"), str(tmp_path))
    async with rig(tmp_path, command=command) as r:
        for n, words in enumerate(("first", "second")):
            await r.send(words)
            question = (await r.until(lambda s: s.decisions)).decisions[0]
            await r.do(i.AnswerDecision(decision=question.id, answer="yes"))
            session = await r.stopped()
            assert StopReason.COMPLETED is session.last_stop.reason
            assert f"answer {n}" == (await r.said())[-1]
            await r.do(i.OwnerLost())
        assert Strategy.ACP_LOAD is session.launch.plan.strategy
        assert ["ok", "ok"] == [f.output for f in await r.events(e.CallFinished)]
        assert ["answer 0", "answer 1"] == await r.said()  # the replay is not among it
