"""`hold attach` shows the agent's own terminal; Ctrl-Q leaves it running."""

import shutil

import pytest

from tests.agents.terminal.fake import Fake
from tests.cli.test_terminal import CTRL_Q, Terminal

# spec: I1 H1 A8

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_attach_is_the_agents_own_terminal(tmp_path):
    with Fake(tmp_path, {"text": "A first word."}, {"text": "Heard you."}) as machine:
        id = machine.run().id
        agent = machine.agent(id)
        attached = Terminal(machine, "attach", id[:6])
        attached.until("A first word")
        attached.type(b"typed by hand\r")
        attached.until("Heard you")
        attached.type(CTRL_Q)
        assert attached.ended() == 0
        assert machine.agent(id) == agent
        assert machine.stopped(id, 2).last_stop.reason == "completed"
        assert machine.texts(id) == ["A first word.", "Heard you."]


def test_attach_brings_a_dead_agent_back_and_sends_nothing(tmp_path):
    with Fake(tmp_path, {"text": "a"}, {"text": "b"}) as machine:
        first = machine.run()
        machine.shoot(first.id)
        machine.until(lambda: not machine.status(first.id)["is_agent_running"])
        attached = Terminal(machine, "attach", first.id)
        attached.until("> ")
        attached.type(CTRL_Q)
        assert attached.ended() == 0
        assert machine.prompts(first.agent_session_id) == ["go"]
        assert machine.runs(first.id) == 1
