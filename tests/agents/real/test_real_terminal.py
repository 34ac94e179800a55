"""Real agents with their own screens, in a real tmux, against a scripted model on loopback."""

import os
import re
import shutil
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agents.real.terminal_place import Screened
from tests.agents.real.test_real import AGENTS, LONG, REAL, Model, forget, shell

# spec: E2 E4 E5 E8 E11 E12 A9 D6 D7 G1 G2 H1

WAY = "terminal"
pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]
# It writes a call down only when that is over.
LATE_CALLS = {"gemini"}
# It shows a text only when that is whole.
LATE_TEXT = {"opencode"}


@pytest.fixture
def place(agent, tmp_path, request):
    if not os.environ.get(REAL):
        pytest.skip("run by make agents")
    program = shutil.which(agent)
    if program is None or shutil.which("tmux") is None:
        pytest.skip(f"{agent} or tmux is not installed")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    request.node.version = re.search(r"\d+(\.\d+)+", said.stdout)[0]
    return lambda url: Screened(tmp_path, url, agent)


each_agent = pytest.mark.parametrize("agent", AGENTS)


def in_mid_text(agent, machine, model, id):
    machine.until(lambda: model.asked and machine.session(id).agent_session_id)
    if agent not in LATE_TEXT:
        machine.until(lambda: "word 7" in machine.screen())


@each_agent
def test_first_run_and_a_second_prompt_into_the_living_agent(agent, place, tmp_path):
    replies = ({"text": "The number is forty-two."}, {"text": "As I said."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run("Say the number ALPHA.")
        assert first.last_stop.reason == "completed", first.last_stop
        assert machine.said(first.id) == "The number is forty-two."
        second = machine.send(first.id, "Again,\nBETA.")
        assert second.last_stop.reason == "completed"
        assert second.agent_session_id == first.agent_session_id
        assert machine.launches(first.id) == 1
        told = model.told()
        assert told.count("Say the number ALPHA.") == 1
        assert "forty-two" in told and "BETA." in told
        assert machine.said(first.id).endswith("As I said.")


@each_agent
def test_resumed_with_history_after_its_end(agent, place, tmp_path):
    replies = ({"text": "The number is forty-two."}, {"text": "As I said."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run("Say the number ALPHA.")
        assert first.last_stop.reason == "completed", first.last_stop
        machine.hold("down", "--kill")
        machine.until(lambda: machine.carriers(first.id) == [])
        machine.up()
        after = machine.send(first.id, "Again, BETA.")
        assert after.last_stop.reason == "completed", after.last_stop
        assert after.agent_session_id == first.agent_session_id
        told = model.told()
        assert told.count("Say the number ALPHA.") == 1
        assert "forty-two" in told and "BETA." in told
        assert machine.said(first.id) == "The number is forty-two.As I said."
        assert machine.events(first.id, "context_lost", "context_injected") == []


@each_agent
def test_the_daemon_is_killed_and_the_agent_is_found_again(agent, place, tmp_path):
    nap = shell(agent, "touch begun.txt; sleep 8; echo rested")
    replies = ({"text": "Napping.", "tool_calls": nap}, {"text": "Awake."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Take a nap.")
        machine.until((machine.repo / "begun.txt").exists)
        machine.kill()
        machine.up()
        after = machine.stopped(id)
        assert after.last_stop.reason == "completed", after.last_stop
        assert machine.said(id) == "Napping.Awake."
        (result,) = machine.events(id, "call_finished")
        assert "rested" in result.data["output"]
        assert machine.launches(id) == 1


@each_agent
def test_killed_in_mid_tool_and_resumed_the_model_is_told(agent, place, tmp_path, request):
    nap = shell(agent, "echo begun >> begun.txt; sleep 120")
    replies = ({"text": "Napping.", "tool_calls": nap}, {"text": "I looked."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Take a nap.")
        machine.until((machine.repo / "begun.txt").exists)
        if agent not in LATE_CALLS:
            machine.until(lambda: machine.events(id, "call_observed"))
        machine.shoot(id)
        assert machine.stopped(id).last_stop.evidence["signal"] == signal.SIGKILL
        assert machine.carriers(id) == []
        after = machine.resumed(id)
        assert after.last_stop.reason == "completed", after.last_stop
        told = model.told()
        assert "[SESSION_RESUMED]" in told and "Take a nap." in told
        if agent in LATE_CALLS:
            request.node.verdict = "the call has no name: it writes one down only when it is over"
        else:
            assert "sleep 120" in told.partition("Unknown")[2]
        assert machine.said(id).endswith("I looked.")
        assert (machine.repo / "begun.txt").read_text() == "begun\n"


@each_agent
def test_killed_in_mid_text_and_resumed_with_a_message(agent, place, tmp_path, request):
    replies = ({"text": LONG, "chunk_ms": 50}, {"text": "On."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Write at length.")
        in_mid_text(agent, machine, model, id)
        machine.shoot(id)
        assert machine.stopped(id).last_stop.evidence["signal"] == signal.SIGKILL
        assert machine.carriers(id) == []
        after = machine.resumed(id, message="Be brief, GAMMA.")
        assert after.last_stop.reason == "completed", after.last_stop
        told = model.told()
        assert "Write at length." in told and "GAMMA" in told
        assert machine.said(id) == "On."
        request.node.verdict = "without its words: it writes them down only when they are whole"


@each_agent
def test_a_cancel_stops_its_turn_and_nothing_is_left(agent, place, tmp_path):
    replies = ({"text": LONG, "chunk_ms": 50}, {"text": "Back."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Write at length.")
        in_mid_text(agent, machine, model, id)
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"
        assert machine.send(id, "And now?").last_stop.reason == "completed"
        assert machine.said(id).endswith("Back.")
        machine.hold("down", "--kill")
        machine.until(lambda: machine.carriers(id) == [])
        assert model.asked


@each_agent
def test_a_conversation_whose_record_is_gone_is_given_to_it_again(agent, place, tmp_path):
    replies = ({"text": "Ninety-nine."}, {"text": "Fresh."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run("Count, DELTA.")
        machine.hold("down", "--kill")
        machine.until(lambda: machine.carriers(first.id) == [])
        forget(agent, tmp_path, first.agent_session_id)
        machine.up()
        after = machine.send(first.id, "Go on.")
        assert after.last_stop.reason == "completed", after.last_stop
        assert after.agent_session_id not in (None, first.agent_session_id)
        assert "RESUME CONTEXT FOR CONTINUING TASK" in model.told()
        assert "DELTA" in model.told() and "Ninety-nine." in model.told()
        assert len(machine.events(first.id, "context_injected")) == 1


@each_agent
def test_a_rate_limit_is_told_apart(agent, place, tmp_path, request):
    limited = {"text": "x", "fail": {"status": 429, "retry_after": 1, "times": 500}}
    with Model(tmp_path, limited) as model, place(model.url) as machine:
        id = machine.begin("Go.")
        machine.until(lambda: model.asked)
        if machine.patient(id):
            request.node.verdict = machine.cancelled(id)
            return
        stopped = machine.stopped(id)
        assert stopped.last_stop.reason == "rate_limited", stopped.last_stop
        shown = stopped.last_stop.resumes_at is not None
        request.node.verdict = "with its time" if shown else "it shows no time"


@each_agent
def test_a_server_that_is_down_does_not_hang_it(agent, place, request):
    with socket.socket() as taken:  # bound, not listening: refused, and nobody else's
        taken.bind(("127.0.0.1", 0))
        with place(f"http://127.0.0.1:{taken.getsockname()[1]}") as machine:
            id = machine.begin("Go.")
            if machine.patient(id):
                request.node.verdict = machine.cancelled(id)
                return
            stopped = machine.stopped(id)
            assert (stopped.last_stop.reason, stopped.last_stop.error) == ("error", "network")


@each_agent
def test_two_resumes_at_once_are_one(agent, place, tmp_path):
    with (
        Model(tmp_path, {"text": "x"}, {"text": LONG, "chunk_ms": 10}) as model,
        place(model.url) as machine,
    ):
        id = machine.run("Go.").id
        machine.hold("down", "--kill")
        machine.until(lambda: machine.carriers(id) == [])
        machine.up()
        with ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda _: machine.resume(id), range(2)))
        assert sorted(run.already_running for run in runs) == [False, True]
        assert machine.stopped(id, 2).last_stop.reason == "completed"
        assert (machine.runs(id), machine.launches(id)) == (2, 2)
        assert len(model.asked) == 2


@each_agent
def test_a_question_on_its_screen_is_seen_and_answered_from_here(agent, place, tmp_path):
    asked = shell(agent, "touch made.txt")
    if agent == "codex":  # it is the model that asks to be let out of the sandbox
        asked[0]["input"] |= {"sandbox_permissions": "require_escalated", "justification": "must I"}
    replies = ({"text": "Asking.", "tool_calls": asked}, {"text": "Made."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin("Make it.", mode="ask")
        questions = []
        machine.until(lambda: machine.answered(id, questions) or machine.events(id, "run_stopped"))
        assert machine.stopped(id).last_stop.reason == "completed"
        assert any("touch made.txt" in question for question in questions), questions
        assert (machine.repo / "made.txt").exists()
        assert machine.said(id) == "Asking.Made." and len(model.asked) == 2
