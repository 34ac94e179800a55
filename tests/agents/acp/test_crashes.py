"""The agent is killed at every line it says, and carried on: nothing doubled, nothing lost, nobody left."""

# spec: E8, E10, P2, P5, P8, A9

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.conversation import build
from holdfast.core.messages import AssistantMessage
from holdfast.core.session import CallStatus, State, StopReason
from holdfast.runtimes.processes import carrying
from tests.agents.acp.rig import ID, rig, text

TURN = [
    *text("one "),
    {"tool": {"id": "c1", "title": "Read", "kind": "read"}},
    *text("two "),
    {"think": "hm"},
    {"tool": {"id": "c2", "title": "Build"}},
    *text("three"),
]
LINES = 11  # initialize, new, 8 updates, the end of the turn


def _words(events) -> list[str]:
    return [m.text for m in build(events).messages() if isinstance(m, AssistantMessage) and m.text]


@pytest.mark.parametrize(
    "can", [["load", "resume"], ["resume"], []], ids=["load", "resume", "none"]
)
@pytest.mark.parametrize("k", range(1, LINES + 1))
async def test_killed_at_line(tmp_path, k, can):
    async with rig(tmp_path, can=can, crash_at=k, turns=[TURN, text("four")]) as r:
        session = await r.run("do it")
        assert State.WAITING_FOR_INPUT is session.state
        before = _words(await r.events())
        assert session.agent_alive == len(carrying(ID))  # itself, or nobody
        if session.last_stop.reason is StopReason.ERROR:
            assert 9 == session.last_stop.evidence.signal
            await r.do(i.ContinueRun())
            session = await r.stopped()
        assert StopReason.COMPLETED is session.last_stop.reason
        events = await r.events()
        assert before == _words(events)[: len(before)]  # what was there stays, as it was
        assert [] == [c for c in session.calls if c.status is CallStatus.INTENDED]
        said = [x for x in events if isinstance(x, e.TextSaved)]
        assert len({(x.round, x.part, x.offset) for x in said}) == len(said)
        inputs = [x for x in events if isinstance(x, e.InputAccepted)]
        sent = [prompt for prompt in r.prompts() if prompt.startswith("do it")]
        assert 1 == len(inputs) == len(sent)
