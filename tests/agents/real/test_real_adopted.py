"""Conversations of real agents, taken in and gone on with in a fork: theirs stays as it was."""

import json
import shutil

import pytest

from tests.agents.machine import Machine
from tests.agents.real.acp_place import MINUTES, PROGRAMS, program_of, version
from tests.agents.real.test_real import AGENTS, Model

# spec: E15 E5

pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
WAY = "adopted"
FORKS = {
    "oneshot": {"claude", "codex", "opencode", "qwen"},
    "acp": {"claude", "codex", "opencode"},
}


class Place(Machine):
    def until(self, true, seconds: float = MINUTES):
        return super().until(true, seconds)


@pytest.mark.parametrize("way", FORKS)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_fork_knows_it_all_and_theirs_never_hears_of_it(agent, way, tmp_path, request):
    request.node.version = version(program_of(agent))
    if way == "acp" and shutil.which(PROGRAMS.get(agent, agent)) is None:
        pytest.skip(f"{agent} does not speak ACP here")
    replies = [{"text": text} for text in ("Forty-two.", "In the fork.", "In theirs.")]
    config = f'[agents.{agent}]\nvia = ["{way}"]\n'
    with (
        Model(tmp_path, *replies) as model,
        Place(tmp_path, AGENTS[agent](model.url, tmp_path), config) as machine,
    ):
        theirs = machine.run(agent, "Say the number ALPHA.", via=way, mode="edits")
        assert theirs.last_stop.reason == "completed", theirs.last_stop
        token = theirs.agent_session_id
        machine.hold("down")  # whatever lives with it lets the conversation go
        machine.up()
        done = machine.hold("adopt", token, "--agent", agent, "--fork", "--json")
        (adopted,) = json.loads(done.stdout)["adopted"]
        forked = machine.send(adopted["session"], "Again, BETA.")
        assert forked.last_stop.reason == "completed", forked.last_stop
        assert forked.agent_session_id not in (None, token)
        told = model.told()
        assert "ALPHA" in told and "Forty-two." in told and "BETA" in told
        injected = "RESUME CONTEXT FOR CONTINUING TASK" in told
        assert injected is (agent not in FORKS[way])
        after = machine.send(theirs.id, "Go on, GAMMA.")
        assert after.agent_session_id == token
        told = model.told()
        assert "ALPHA" in told and "GAMMA" in told and "BETA" not in told
        how = "it cannot fork: begun afresh, with our record" if injected else "by its own fork"
        request.node.verdict = f"{way}: {how}"
