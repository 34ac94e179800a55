"""A one-shot agent that crashes, lies about its id, will not die and leaves orphans: nothing is lost."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agents.machine import Machine

# spec: E1 E4 E5 E6 E8 E11 E12 A7 C3 D6 D7 G8

CONFIG = f"""
[agents.fake]
program = "{sys.executable}"
environ = ["ONESHOT_*"]
[agents.fake.oneshot]
format = "claude"
prompt = "stdin"
start = ["{sys.executable}", "-m", "holdfast.testing.oneshot_agent", "-p", "--session-id", "{{id}}"]
resume = ["{sys.executable}", "-m", "holdfast.testing.oneshot_agent", "-p", "--resume", "{{id}}"]
unknown = ["No conversation found"]
modes = {{ full = [] }}
[agents.fake.transcript]
root = ["$ONESHOT_HOME"]
pattern = "projects/*/{{id}}.jsonl"
"""
LONG = "word " * 200


class Fake(Machine):
    def __init__(self, folder, *turns, config=""):
        self.memory = folder / "memory"
        script = folder / "turns.jsonl"
        script.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
        environ = {"ONESHOT_HOME": str(self.memory), "ONESHOT_SCRIPT": str(script)}
        super().__init__(folder, environ, config + CONFIG)

    def remembered(self, token):
        lines = (self.memory / "projects" / "fake" / f"{token}.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


def test_a_turn_is_journaled_and_the_next_one_resumes_it(tmp_path):
    turns = ({"text": "I ran it.", "command": "echo hi", "then": "All done."}, {"text": "More."})
    with Fake(tmp_path, *turns) as machine:
        first = machine.run("fake", "go")
        assert (first.state, first.last_stop.reason) == ("WAITING_FOR_INPUT", "completed")
        token = first.agent_session_id
        assert machine.said(first.id) == "I ran it. All done. "
        (call,) = machine.events(first.id, "call_observed")
        assert json.loads(call.data["call"]["arguments"]) == {"command": "echo hi"}
        (result,) = machine.events(first.id, "call_finished")
        assert result.data["output"] == "hi\n"
        done = machine.events(first.id, "response_finished")
        assert [d.data["usage"]["input_tokens"] for d in done] == [10, 10]
        assert first.cost == pytest.approx(0.25)
        second = machine.send(first.id, "and then?")
        assert second.agent_session_id == token
        user = [line for line in machine.remembered(token) if line["role"] == "user"]
        assert [line["text"] for line in user] == ["go", "and then?"]
        assert [line["argv"][-2] for line in user] == ["--session-id", "--resume"]
        assert machine.carriers(first.id) == []


def test_reattaching_starts_no_process(tmp_path):
    with Fake(tmp_path, {"text": "Hello."}) as machine:
        id = machine.run("fake", "go").id
        machine.until(lambda: machine.status(id)["is_resumable"])  # the last debts are paid
        assert machine.status(id)["needs_resume"] is False
        machine.client.post(f"/api/sessions/{id}/reattach", {}, dict)
        assert (machine.memory / "turns").read_text().count("x") == 1


@pytest.mark.parametrize("line", [0, 1, 2, 5])
def test_a_crash_at_any_line_is_told_and_the_session_goes_on(tmp_path, line):
    with Fake(
        tmp_path, {"text": "one two three four", "crash_at": line}, {"text": "On."}
    ) as machine:
        stopped = machine.run("fake", "go")
        assert (stopped.last_stop.reason, stopped.last_stop.evidence["signal"]) == ("error", 9)
        assert machine.said(stopped.id) == "one two three four "[: {5: 14}.get(line, 0)]
        after = machine.resumed(stopped.id)
        assert after.last_stop.reason == "completed"
        assert after.agent_session_id == stopped.agent_session_id
        roles = [row["role"] for row in machine.remembered(after.agent_session_id)]
        assert roles == ["user", "user", "assistant"]


def test_the_daemon_is_killed_in_mid_text_and_nothing_survives(tmp_path):
    slow = {"text": LONG, "chunk_ms": 50, "orphan": 300, "stubborn": True}
    with Fake(tmp_path, slow, {"text": "On with it."}) as machine:
        id = machine.begin("fake", "go")
        machine.until(lambda: machine.saying(id).count("word") > 10)
        assert len(machine.carriers(id)) == 2
        machine.kill()
        machine.up()
        assert machine.carriers(id) == []
        stopped = machine.session(id)
        assert stopped.stop.reason == "interrupted"
        after = machine.resumed(id, message="Be brief.")
        assert after.last_stop.reason == "completed"
        told = machine.remembered(after.agent_session_id)[-2]["text"]
        assert told.startswith("[SESSION_RESUMED]")
        assert "word word word" in told  # its own words, which the agent itself has lost
        assert told.endswith("Be brief.")


def test_killed_in_mid_tool_the_model_is_told_what_is_unknown(tmp_path):
    nap = {"text": "Napping.", "command": "echo begun >> begun; sleep 300"}
    with Fake(tmp_path, nap, {"text": "I looked."}) as machine:
        id = machine.begin("fake", "go")
        machine.until(lambda: machine.events(id, "call_observed"))
        machine.kill()
        machine.up()
        assert machine.carriers(id) == []
        after = machine.resumed(id)
        told = machine.remembered(after.agent_session_id)[-2]["text"]
        assert "executing tool calls" in told
        assert "sleep 300" in told.partition("Unknown")[2]
        (closed,) = machine.events(id, "call_closed")
        assert closed.data["how"] == "unknown"


def test_a_cancel_ends_even_one_that_will_not_die(tmp_path):
    turn = {"text": LONG, "chunk_ms": 50, "orphan": 300, "stubborn": True}
    with Fake(tmp_path, turn) as machine:
        id = machine.begin("fake", "go")
        machine.until(lambda: machine.saying(id))
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"
        machine.until(lambda: machine.carriers(id) == [])
        assert machine.said(id).startswith("word word")


def test_another_id_than_the_one_asked_for_is_seen(tmp_path):
    with Fake(tmp_path, {"text": "a"}, {"text": "b", "other_id": True}, {"text": "c"}) as machine:
        first = machine.run("fake", "go")
        second = machine.send(first.id, "more")
        (lost,) = machine.events(first.id, "context_lost")
        assert first.agent_session_id in lost.data["why"]
        assert second.agent_session_id != first.agent_session_id
        third = machine.send(first.id, "yet more")
        assert third.agent_session_id == second.agent_session_id
        machine.send(first.id, "the end")
        user = [row["text"] for row in machine.remembered(third.agent_session_id)][::2]
        assert user[0] == "more" and user[2] == "the end"
        assert user[1].startswith("RESUME CONTEXT") and "[USER]: go" in user[1]
        (injected,) = machine.events(first.id, "context_injected")  # once, and as much as it was
        assert injected.data["characters"] == len(user[1]) - len("yet more")


def test_a_conversation_that_the_agent_does_not_know_is_given_to_it_again(tmp_path):
    forgets = ({"text": "Ninety-nine."}, {"forgets": True}, {"text": "Fresh."})
    with Fake(tmp_path, *forgets) as machine:
        first = machine.run("fake", "count")
        refused = machine.send(first.id, "more")
        assert refused.state == "WAITING_FOR_INPUT"
        assert "does not know its earlier conversation" in refused.last_stop.message
        assert refused.agent_session_id is None
        after = machine.send(first.id, "again")
        assert after.last_stop.reason == "completed"
        (told, _) = machine.remembered(after.agent_session_id)
        assert told["text"].startswith("RESUME CONTEXT FOR CONTINUING TASK")
        assert "[ASSISTANT]: Ninety-nine." in told["text"]
        assert told["text"].count("=== CURRENT REQUEST ===\nagain") == 1


def test_a_transcript_that_is_gone_means_a_fresh_start_that_is_seen(tmp_path):
    with Fake(tmp_path, {"text": "First."}, {"text": "Second."}) as machine:
        first = machine.run("fake", "go")
        token = first.agent_session_id
        (machine.memory / "projects" / "fake" / f"{token}.jsonl").unlink()
        assert "not there" in machine.plan(first.id).why
        after = machine.send(first.id, "more")
        assert after.agent_session_id not in (None, token)
        (told, _) = machine.remembered(after.agent_session_id)
        assert "[USER]: go" in told["text"]
        (injected,) = machine.events(first.id, "context_injected")
        assert injected.data["characters"] == len(told["text"]) - len("more")
        machine.send(first.id, "and on")
        assert len(machine.events(first.id, "context_injected")) == 1


def test_limits_stop_a_run_and_say_which_one(tmp_path):  # spec: B4 B5 P7
    work = {"text": "I work.", "command": "echo x >> x", "then": LONG, "chunk_ms": 50}
    nap = {"text": "I nap.", "command": "sleep 300"}
    with Fake(tmp_path, work, work, nap, {"text": "On."}) as machine:
        tools = machine.run("fake", "go", limits={"max_tool_calls": 1})
        assert (tools.last_stop.reason, tools.last_stop.percent) == ("tool_limit", 100)
        assert "1 of 1 tool calls" in tools.last_stop.message
        assert machine.carriers(tools.id) == []
        (made,) = machine.events(tools.id, "call_finished")  # what had begun was finished
        assert not made.data.get("failed")
        rounds = machine.run("fake", "go", limits={"max_rounds": 1})
        assert rounds.last_stop.reason == "round_limit"
        time = machine.run("fake", "go", limits={"max_time": 2})
        assert (time.last_stop.reason, time.tokens is None) == ("time_limit", False)
        assert "of 2.0 s" in time.last_stop.message
        assert machine.carriers(time.id) == []
        after = machine.resumed(time.id)  # a continue opens a fresh window
        assert after.last_stop.reason == "completed"
        assert "sleep 300" in machine.remembered(after.agent_session_id)[-2]["text"]


def test_nobody_chose_a_limit_of_tool_calls_for_another_agent(tmp_path):  # spec: B4
    many = {"text": "I work.", "command": "true", "calls": 60, "then": "Done."}
    with Fake(tmp_path, many) as machine:
        assert machine.run("fake", "go").last_stop.reason == "completed"


def test_errors_are_classified_by_what_the_agent_says(tmp_path):
    limit = {"fail": {"status": 429, "message": "API Error: Request rejected (429) - slow down"}}
    key = {"fail": {"status": 401, "message": "Failed to authenticate. API Error: 401"}}
    with Fake(tmp_path, limit, key) as machine:
        stopped = machine.run("fake", "go")
        assert stopped.last_stop.reason == "rate_limited"
        assert stopped.last_stop.evidence["status"] == 429
        again = machine.send(stopped.id, "again")
        assert (again.last_stop.reason, again.last_stop.error) == ("error", "auth")


def test_junk_floods_and_orphans_disturb_nothing(tmp_path):
    turn = {"text": "Clean.", "junk": True, "flood": 3_000_000, "orphan": 300}
    with Fake(tmp_path, turn) as machine:
        stopped = machine.run("fake", "go")
        assert stopped.last_stop.reason == "completed"
        assert machine.said(stopped.id) == "Clean. "
        assert machine.carriers(stopped.id) == []


def test_two_resumes_at_once_are_one_run(tmp_path):
    slow = {"text": LONG, "chunk_ms": 10}
    with Fake(tmp_path, {"crash_at": 2}, slow) as machine:
        id = machine.run("fake", "go").id
        with ThreadPoolExecutor(4) as pool:
            runs = list(pool.map(lambda _: machine.resume(id), range(4)))
        assert sorted(run.already_running for run in runs) == [False, True, True, True]
        machine.stopped(id, 2)
        assert (machine.memory / "turns").read_text().count("x") == 2


def test_text_is_saved_while_it_comes(tmp_path):
    """The last words before a pause are safe although no other piece follows."""
    with Fake(tmp_path, {"text": "tail", "pause": True}) as machine:
        id = machine.begin("fake", "go")
        machine.until(lambda: machine.saying(id) == "tail ", 10)
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        machine.stopped(id)


def test_what_cannot_be_run_is_refused_before_anything_starts(tmp_path):
    with Fake(tmp_path, {}) as machine:
        for arguments, said in (
            (("--agent", "nobody"), "There is no agent 'nobody'"),
            (("--agent", "fake"), "cannot be told the mode 'edits'"),
            (("--agent", "fake", "--via", "acp"), "cannot be run via 'acp'"),
            (("--agent", "fake", "--via", "terminal", "--mode", "full"), "cannot be run via"),
        ):
            done = machine.hold("run", "x", *arguments, ok=False)
            assert done.returncode == 2, done
            assert said in done.stderr
        assert json.loads(machine.hold("ls", "--json").stdout)["sessions"] == []


def test_the_command_line_runs_and_resumes_it(tmp_path):
    with Fake(tmp_path, {"crash_at": 3}, {"text": "Back."}) as machine:
        done = machine.hold("run", "--agent", "fake", "--mode", "full", "go", ok=False)
        assert done.returncode == 1
        (session,) = json.loads(machine.hold("ls", "--json").stdout)["sessions"]
        assert session["via"] == "oneshot"
        assert "Back." in machine.hold("resume", session["id"]).stdout


def test_the_environment_of_an_agent_is_an_allow_list(tmp_path):
    os.environ["VARIABLE_OF_ANOTHER"] = "x"
    try:
        show = {"text": "Looking.", "command": "env | cut -d= -f1"}
        with Fake(tmp_path, show) as machine:
            id = machine.run("fake", "go").id
            (result,) = machine.events(id, "call_finished")
            names = set(result.data["output"].split())
            assert {"ONESHOT_HOME", "HOME", "PATH", "HOLDFAST_COOKIE"} <= names
            assert "VARIABLE_OF_ANOTHER" not in names
    finally:
        del os.environ["VARIABLE_OF_ANOTHER"]


def test_silence_is_said_once_and_can_be_cancelled(tmp_path):  # spec: E17
    with Fake(tmp_path, {"text": "tail", "pause": True}, config="quiet_after = 1\n") as machine:
        id = machine.begin("fake", "go")
        (quiet,) = machine.until(lambda: machine.events(id, "notice"))
        assert quiet.data["kind"] == "agent_quiet"
        assert machine.session(id).state == "RUNNING"  # never a kill
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"
        assert len(machine.events(id, "notice")) == 1
        machine.until(lambda: machine.carriers(id) == [])
