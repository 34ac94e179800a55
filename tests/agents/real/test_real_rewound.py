"""Real agents taken back to an earlier round: by their own fork up to that message where they have one,
by our record where not. Either way the model hears nothing of what was cut away."""

import shutil

import pytest

from tests.agents.real.acp_place import PROGRAMS, Place, program_of, version
from tests.agents.real.test_real import AGENTS, Model

# spec: D8 E18

WAY = "rewound"
pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
FORK_AT_A_MESSAGE = {("claude", "oneshot"), ("claude", "acp")}


@pytest.mark.parametrize("way", ["oneshot", "acp"])
@pytest.mark.parametrize("agent", AGENTS)
def test_the_model_hears_only_of_what_was_kept(agent, way, tmp_path, request):
    request.node.version = version(program_of(agent))
    if way == "acp" and shutil.which(PROGRAMS.get(agent, agent)) is None:
        pytest.skip(f"{agent} does not speak ACP here")
    words = ("Forty-two.", "Cut away.", "Instead.", "And on.")
    with (
        Model(tmp_path, *({"text": text} for text in words)) as model,
        Place(tmp_path, model.url, agent) as machine,
    ):
        first = machine.run(agent, "Say the number ALPHA.", via=way, mode="edits")
        assert first.last_stop.reason == "completed", first.last_stop
        id, token = first.id, first.agent_session_id
        machine.send(id, "Now BETA.")
        machine.hold("rewind", id, "--to", "1")
        back = machine.send(id, "Instead, GAMMA.")
        assert back.last_stop.reason == "completed", back.last_stop
        assert back.agent_session_id not in (None, token), "what it had stays as it is"
        told = model.told()
        assert "ALPHA" in told and "Forty-two." in told and "GAMMA" in told
        assert "BETA" not in told and "Cut away." not in told
        injected = "RESUME CONTEXT FOR CONTINUING TASK" in told
        assert injected is ((agent, way) not in FORK_AT_A_MESSAGE)
        assert machine.events(id, "context_lost") == []
        on = machine.send(id, "Further, DELTA.")
        assert on.agent_session_id == back.agent_session_id
        told = model.told()
        assert all(said in told for said in ("ALPHA", "GAMMA", "Instead.", "DELTA"))
        assert "BETA" not in told
        how = "begun afresh, with our record" if injected else "by its own fork up to the message"
        request.node.verdict = f"{way}: {how}"
