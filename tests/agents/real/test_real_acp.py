"""Real agents over ACP, against a scripted model on loopback: what the model was told is in its log."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agents.real.acp_place import WRITERS, Place, program_of, version
from tests.agents.real.test_real import LONG, Model, cancelled_in_its_patience, shell

# spec: E2 E3 E5 E6 E8 E9 E10 E12 E14 A7 B4 B11 D6 G7

WAY = "acp"
pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
each_agent = pytest.mark.parametrize(
    "agent", ["claude", "gemini", "copilot", "opencode", "codex", "qwen"]
)
LIMIT = "Rate limit reached for requests."
LATE_TEXT = {"gemini"}
# They try again by themselves, for minutes or for ever.
PATIENT_WHEN_LIMITED, PATIENT_WHEN_DOWN = {"gemini", "qwen"}, {"gemini", "opencode"}


@pytest.fixture
def place(agent, tmp_path, request):
    """Makes a machine with that agent, talking to that model."""
    request.node.version = version(program_of(agent))

    def make(url, *others):
        return Place(tmp_path, url, agent, *others)

    return make


def touch(agent, name):
    """A call that is asked about: Codex has a sandbox, and asks for what is to be done outside of it."""
    (call,) = shell(agent, f"touch {name}")
    if agent == "codex":
        call["input"] |= {"sandbox_permissions": "require_escalated", "justification": "a test"}
    return [call]


def only(agent, able, why):
    if agent not in able:
        pytest.skip(f"not possible: {why}")


@each_agent
def test_first_run_and_resume_with_history(agent, place, tmp_path):
    replies = ({"text": "The number is forty-two."}, {"text": "As I said."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run(agent, "Say the number ALPHA.")
        assert first.last_stop.reason == "completed", first.last_stop
        assert machine.said(first.id) == "The number is forty-two."
        machine.again()
        assert machine.processes(first.id) == []
        second = machine.send(first.id, "Again, BETA.")
        assert second.last_stop.reason == "completed", second.last_stop
        assert second.agent_session_id == first.agent_session_id
        told = model.told()
        assert told.count("Say the number ALPHA.") == 1
        assert told.count("forty-two") == 1 and told.count("Again, BETA.") == 1
        assert machine.said(first.id) == "The number is forty-two.As I said."


@each_agent
def test_its_agent_killed_in_mid_text_and_resumed_with_a_message(agent, place, tmp_path, request):
    late = agent in LATE_TEXT
    replies = ({"text": LONG, "chunk_ms": 50}, {"text": "On."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin(agent, "Write at length.")
        machine.until(lambda: model.asked if late else machine.saying(id).count("word") > 20)
        machine.kill_agent(id)
        stopped = machine.stopped(id)
        assert stopped.last_stop.evidence["signal"] == 9, stopped.last_stop
        assert machine.processes(id) == []
        after = machine.resumed(id, message="Be brief, GAMMA.")
        assert after.last_stop.reason == "completed", after.last_stop
        told = model.told()
        assert told.count("Write at length.") == 1
        assert "[SESSION_RESUMED]" in told and "GAMMA" in told
        assert ("word 7 word 8 word 9" in told) is not late
        if late:
            request.node.verdict = "without its words: it says them only when they are whole"


@each_agent
def test_its_agent_killed_in_mid_tool_the_model_is_told_what_is_unknown(agent, place, tmp_path):
    nap = shell(agent, "echo begun >> begun.txt; sleep 120")
    replies = ({"text": "Napping.", "tool_calls": nap}, {"text": "I looked."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin(agent, "Take a nap.")
        machine.until(lambda: machine.events(id, "call_observed"))
        begun = tmp_path / "home" / "worktrees" / id / "begun.txt"
        machine.until(begun.exists)
        machine.kill_agent(id)
        machine.stopped(id)
        assert machine.processes(id) == []
        after = machine.resumed(id)
        assert after.last_stop.reason == "completed", after.last_stop
        assert "sleep 120" in model.told().partition("Unknown")[2]
        assert begun.read_text() == "begun\n"


@each_agent
def test_the_daemon_killed_in_mid_tool_leaves_nobody(agent, place, tmp_path):
    nap = shell(agent, "echo begun >> begun.txt; sleep 120")
    replies = ({"text": "Napping.", "tool_calls": nap}, {"text": "I looked."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin(agent, "Take a nap.")
        begun = tmp_path / "home" / "worktrees" / id / "begun.txt"
        machine.until(begun.exists)
        machine.kill()
        machine.up()
        assert machine.processes(id) == []
        assert machine.session(id).stop.reason == "interrupted"
        after = machine.resumed(id)
        assert after.last_stop.reason == "completed", after.last_stop
        assert model.told().count("Take a nap.") == 1
        assert begun.read_text() == "begun\n"


@each_agent
def test_an_unknown_conversation_waits_and_the_next_prompt_carries_it(agent, place, tmp_path):
    replies = ({"text": "Ninety-nine."}, {"text": "Fresh."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run(agent, "Count, DELTA.")
        machine.hold("down")
        machine.forget(first.agent_session_id)
        machine.up()
        machine.client.post(f"/api/sessions/{first.id}/reattach", {}, dict)
        machine.until(lambda: machine.events(first.id, "token_dropped"))
        assert machine.session(first.id).state == "WAITING_FOR_INPUT"
        after = machine.send(first.id, "Go on.")
        assert after.last_stop.reason == "completed", after.last_stop
        assert after.agent_session_id != first.agent_session_id
        assert model.told().count("RESUME CONTEXT FOR CONTINUING TASK") == 1
        assert model.told().count("Count, DELTA.") == 1


@each_agent
def test_a_rate_limit_is_told_apart(agent, place, tmp_path, request):
    failing = {"status": 429, "retry_after": 1, "times": 50, "message": LIMIT}
    with Model(tmp_path, {"text": "x", "fail": failing}) as model, place(model.url) as machine:
        id = machine.begin(agent, "Go.")
        if agent in PATIENT_WHEN_LIMITED:
            request.node.verdict = cancelled_in_its_patience(machine, id)
        else:
            stopped = machine.stopped(id)
            assert stopped.last_stop.reason == "rate_limited", stopped.last_stop


@each_agent
def test_a_server_that_is_down_does_not_hang_it(agent, place, tmp_path, request):
    with socket.socket() as taken:  # bound, not listening: refused, and nobody else's
        taken.bind(("127.0.0.1", 0))
        with place(f"http://127.0.0.1:{taken.getsockname()[1]}") as machine:
            id = machine.begin(agent, "Go.")
            if agent in PATIENT_WHEN_DOWN:
                request.node.verdict = cancelled_in_its_patience(machine, id)
            else:
                stopped = machine.stopped(id)
                assert (stopped.last_stop.reason, stopped.last_stop.error) == ("error", "network")


@each_agent
def test_its_time_is_limited_whatever_it_waits_for(agent, place, tmp_path):
    with Model(tmp_path, {"text": "x", "hang": True}) as model, place(model.url) as machine:
        id = machine.begin(agent, "Go.", limits={"max_time": 5})
        stopped = machine.stopped(id)
        assert stopped.last_stop.reason == "time_limit", stopped.last_stop
        assert len(model.asked) <= 1  # on a busy machine its time is up before it has asked


@each_agent
def test_two_resumes_at_once_are_one(agent, place, tmp_path):
    words = " ".join(f"word-{n}" for n in range(400))  # Gemini stops what repeats itself
    slow = {"text": words, "chunk_ms": 5}
    with Model(tmp_path, {"text": "x"}, slow) as model, place(model.url) as machine:
        id = machine.run(agent, "Go.").id
        machine.again()
        with ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda _: machine.resume(id), range(2)))
        assert sorted(run.already_running for run in runs) == [False, True]
        machine.stopped(id, 2)
        assert len(model.asked) == 2


@each_agent
def test_a_question_is_asked_and_its_answer_counts(agent, place, tmp_path):
    replies = (
        {"text": "May I?", "tool_calls": touch(agent, "made.txt")},
        {"text": "Thanks."},
        {"text": "And this?", "tool_calls": touch(agent, "other.txt")},
        {"text": "Well then."},
    )
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin(agent, "Make it.", mode="ask")
        tree = tmp_path / "home" / "worktrees" / id
        machine.answer(id, "yes")
        assert machine.stopped(id).last_stop.reason == "completed"
        assert (tree / "made.txt").exists()
        machine.again()  # and its mode is what it was
        runs = machine.runs(id)
        machine.client.post(f"/api/sessions/{id}/prompt", {"text": "And the other."}, dict)
        machine.answer(id, "no")
        machine.stopped(id, runs + 1)
        assert not (tree / "other.txt").exists()


@each_agent
def test_its_mode_is_set_again_after_it_came_back(agent, place, tmp_path):
    only(agent, set(WRITERS), "it has no mode in which edits need no question")
    tool, key = WRITERS[agent]
    made = tmp_path / "repo" / "made.txt"
    call = {"name": tool, "input": {key: str(made), "content": "made\n"}}
    replies = ({"text": "Hello."}, {"text": "x", "tool_calls": [call]}, {"text": "y"})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin(agent, "Hello.", mode="edits", here=True)
        machine.stopped(id)
        machine.again()
        assert machine.send(id, "Make it.").last_stop.reason == "completed"
        assert made.read_text().strip() == "made"
        assert machine.events(id, "decision_asked") == []


@each_agent
def test_read_only_holds_after_it_came_back(agent, place, tmp_path):
    replies = ({"text": "Hello."}, {"text": "x", "tool_calls": shell(agent, "touch made.txt")})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.run(agent, "Hello.", mode="read-only").id
        machine.again()
        after = machine.send(id, "Make it.")
        assert after.last_stop.reason in ("completed", "interrupted"), after.last_stop
        assert not (tmp_path / "home" / "worktrees" / id / "made.txt").exists()
        assert machine.events(id, "decision_asked") == []


@each_agent
def test_a_cancel_ends_the_turn(agent, place, tmp_path):
    with Model(tmp_path, {"text": "x", "hang": True}) as model, place(model.url) as machine:
        id = machine.begin(agent, "Go.")
        machine.until(lambda: model.asked)
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"


@pytest.mark.parametrize("agent", ["codex"])
def test_a_session_of_claude_is_carried_on_by_another(agent, place, tmp_path):
    replies = ({"text": "The number is forty-two."}, {"text": "Forty-two it is."})
    with Model(tmp_path, *replies) as model, place(model.url, "claude") as machine:
        id = machine.run("claude", "Say the number ALPHA.").id
        machine.hold("resume", id, "--agent", agent, "--message", "Say it again, BETA.")
        assert machine.session(id).agent == agent
        assert "/responses" in model.asked[-1]["path"]
        told = model.told()
        assert told.count("RESUME CONTEXT FOR CONTINUING TASK") == 1
        assert told.count("Say the number ALPHA.") == 1 and told.count("forty-two") == 1
        assert "BETA" in told


@pytest.mark.parametrize("agent", ["auggie"])
def test_without_a_login_it_says_how_to_log_in(agent, place):
    with place("") as machine:
        stopped = machine.run(agent, "Go.", mode="edits")
        assert stopped.last_stop.error == "auth", stopped.last_stop
        assert "auggie login" in stopped.last_stop.message


@pytest.mark.parametrize("agent", ["amp"])
def test_first_run_of_an_agent_without_acp(agent):
    program_of(agent)
    pytest.skip("not possible: it does not speak ACP, and its threads need the vendor's login")
