"""Agents in a real tmux: they outlive the daemon, are found again, and are told once."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.agents.terminal.place import gist
from tests.agents.terminal.fake import Fake

# spec: E4 E5 E6 E8 E11 A7 A9 D6 D7 G1 G2 G5 G6 G7 G8 H1

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]
SLOW = {"texts": [f"word {n}." for n in range(12)], "pace_ms": 150}
NAP = {"text": "Napping.", "command": "echo begun >> begun; sleep 300"}
either = pytest.mark.parametrize("hooks", [True, False])


@either
def test_the_first_run_and_a_second_prompt_into_the_living_agent(tmp_path, hooks):
    turns = ({"text": "I ran it.", "command": "echo hi", "then": "All done."}, {"text": "More."})
    with Fake(tmp_path, *turns, hooks=hooks) as machine:
        first = machine.run("go\nthere")
        assert (first.state, first.last_stop.reason) == ("WAITING_FOR_INPUT", "completed")
        assert machine.texts(first.id) == ["I ran it.", "All done."]
        (call,) = machine.events(first.id, "call_observed")
        assert json.loads(call.data["call"]["arguments"]) == {"command": "echo hi"}
        (result,) = machine.events(first.id, "call_finished")
        assert result.data["output"] == "hi\n"
        done = machine.events(first.id, "response_finished")
        assert [d.data["usage"]["input_tokens"] for d in done] == [10, 10]
        assert len(machine.panes()) == 1
        second = machine.send(first.id, "and\nthen?")
        assert second.last_stop.reason == "completed"
        assert machine.texts(first.id)[2:] == ["More."]
        token = first.agent_session_id
        assert second.agent_session_id == token
        assert machine.prompts(token) == ["go\nthere", "and\nthen?"]
        assert len(machine.starts()) == 1
        assert len(machine.events(first.id, "input_accepted")) == 2


@either
def test_the_daemon_is_killed_in_mid_turn_and_the_agent_is_found_again(tmp_path, hooks):
    with Fake(tmp_path, SLOW, {"text": "More."}, hooks=hooks) as machine:
        id = machine.begin()
        machine.until(lambda: "word 3." in machine.saying(id))
        agent = machine.agent(id)
        machine.kill()
        machine.until(lambda: len(machine.record(machine_token(machine))) > 7)
        machine.up()
        done = machine.stopped(id)
        assert done.last_stop.reason == "completed", done.last_stop
        assert machine.agent(id) == agent
        assert machine.texts(id) == SLOW["texts"]
        assert len(machine.events(id, "round_started")) == 1
        assert machine.send(id, "more").last_stop.reason == "completed"
        assert machine.texts(id)[-1] == "More."
        assert len(machine.starts()) == 1


def machine_token(machine):
    (path,) = (machine.memory / "projects" / "fake").glob("*.jsonl")
    return path.stem


def test_the_end_of_an_earlier_turn_does_not_end_a_later_one(tmp_path):
    long = {"texts": list("abcdefgh"), "pace_ms": 1500}  # longer than last words are waited for
    with Fake(tmp_path, {"text": "First."}, long) as machine:
        id = machine.run().id
        machine.client.post(f"/api/sessions/{id}/prompt", {"text": "more"}, dict)
        machine.until(lambda: "a" in machine.saying(id))
        machine.kill()
        machine.up()
        assert machine.stopped(id, 2).last_stop.reason == "completed"
        assert machine.texts(id) == ["First.", *long["texts"]]


@either
def test_what_it_did_while_nobody_listened_is_told_once(tmp_path, hooks):
    turn = {"text": "First.", "command": "sleep 1", "then": "Last."}
    with Fake(tmp_path, turn, hooks=hooks) as machine:
        id = machine.begin()
        machine.until(lambda: machine.events(id, "call_observed"))
        machine.kill()
        machine.until(lambda: "Last." in json.dumps(machine.record(machine_token(machine))))
        machine.up()
        assert machine.stopped(id).last_stop.reason == "completed"
        assert machine.texts(id) == ["First.", "Last."]
        assert len(machine.events(id, "call_finished")) == 1


def typed_after_the_first(machine, id):
    """It is the second input, and nothing else is told again."""
    machine.press(id, "typed here", "Enter")
    machine.stopped(id, 2)
    assert machine.texts(id) == ["First.", "Second."]
    accepted = machine.events(id, "input_accepted")
    assert [event.data["text"] for event in accepted] == ["go", "typed here"]


@pytest.mark.parametrize("marked", [True, False])
def test_a_turn_that_is_over_is_not_told_again_to_the_next_daemon(tmp_path, marked):  # spec: P2
    with Fake(tmp_path, {"text": "First."}, {"text": "Second."}) as machine:
        id = machine.run().id
        (mark,) = (machine.home / "terminal").glob("*.mark.json")
        machine.until(lambda: json.loads(mark.read_text())["typed"])
        machine.kill()
        if not marked:  # it died before it could write down that the run is over
            words = json.loads(mark.read_text())["words"]
            mark.write_text(json.dumps({"run": 1, "round": 0, "words": words}))
        machine.up()
        typed_after_the_first(machine, id)


def test_a_prompt_that_never_arrived_does_not_swallow_the_next_one(tmp_path):  # spec: A9
    """The daemon died after it marked a prompt, before it handed it over; then its run was over."""
    with Fake(tmp_path, {"text": "First."}, {"text": "Second."}) as machine:
        first = machine.run()
        id = first.id
        (mark,) = (machine.home / "terminal").glob("*.mark.json")
        machine.until(lambda: json.loads(mark.read_text())["typed"])
        machine.kill()
        end = (machine.memory / "projects" / "fake" / f"{first.agent_session_id}.jsonl").stat()
        lost = {"run": 2, "round": 1, "offset": end.st_size, "words": gist("never handed over")}
        mark.write_text(json.dumps(lost))
        machine.up()
        typed_after_the_first(machine, id)


def test_a_turn_that_was_told_is_not_told_again(tmp_path):
    with Fake(tmp_path, {"text": "a"}, {"text": "b"}) as machine:
        id = machine.run().id
        machine.kill()
        machine.up()
        assert machine.send(id, "more").last_stop.reason == "completed"
        assert machine.texts(id) == ["a", "b"]
        assert (machine.runs(id), len(machine.starts())) == (2, 1)


def test_it_died_while_nobody_listened(tmp_path):
    with Fake(tmp_path, NAP, {"text": "I looked."}) as machine:
        id = machine.begin()
        machine.until(lambda: machine.events(id, "call_observed"))
        machine.kill()
        machine.shoot(id)
        machine.up()
        stopped = machine.stopped(id)
        assert (stopped.last_stop.reason, stopped.last_stop.evidence["signal"]) == ("error", 9)
        machine.until(lambda: machine.carriers(id) == [])
        assert machine.resumed(id).last_stop.reason == "completed"


def test_down_leaves_it_running_and_down_kill_ends_it(tmp_path):
    with Fake(tmp_path, SLOW, SLOW) as machine:
        id = machine.begin()
        machine.until(lambda: machine.saying(id))
        agent = machine.agent(id)
        machine.hold("down")
        assert machine.agent(id) == agent
        machine.up()
        assert machine.stopped(id).last_stop.reason == "completed"
        assert machine.texts(id) == SLOW["texts"]
        machine.hold("down", "--kill")
        machine.until(lambda: machine.carriers(id) == [])
        machine.until(lambda: machine.panes() == [])


def test_killed_in_mid_tool_and_resumed_the_unknown_is_told(tmp_path):
    with Fake(tmp_path, NAP, {"text": "I looked."}) as machine:
        id = machine.begin()
        machine.until(lambda: machine.events(id, "call_observed"))
        machine.shoot(id)
        stopped = machine.stopped(id)
        assert (stopped.last_stop.reason, stopped.last_stop.evidence["signal"]) == ("error", 9)
        assert machine.carriers(id) == []
        done = machine.hold("resume", id)
        assert "I looked." in done.stdout
        token = machine.session(id).agent_session_id
        first, told = machine.prompts(token)
        assert (first, machine.starts()[1][:2]) == ("go", ["--resume", token])
        assert "sleep 300" in told.partition("Unknown")[2]
        (closed,) = machine.events(id, "call_closed")
        assert closed.data["how"] == "unknown"


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_crash_at_any_line_is_told_and_the_session_goes_on(tmp_path, line):
    crash = {"text": "Words.", "command": "true", "crash_at": line}
    with Fake(tmp_path, crash, {"text": "On."}) as machine:
        stopped = machine.run()
        assert (stopped.last_stop.reason, stopped.last_stop.evidence["signal"]) == ("error", 9)
        assert machine.texts(stopped.id) == ["Words."] * (line == 2)
        after = machine.resumed(stopped.id)
        assert after.last_stop.reason == "completed"
        assert machine.texts(stopped.id)[-1] == "On."


def test_a_cancel_stops_the_turn_and_keeps_the_agent(tmp_path):
    with Fake(tmp_path, NAP, {"text": "Back."}) as machine:
        id = machine.begin()
        machine.until(lambda: machine.events(id, "call_observed"))
        agent = machine.agent(id)
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"
        machine.until(lambda: not [line for _, line in machine.lines(id) if "sleep 300" in line])
        assert machine.send(id, "again").last_stop.reason == "completed"
        assert machine.agent(id) == agent


def test_one_that_does_not_listen_is_ended(tmp_path):
    turn = {**SLOW, "pace_ms": 2000, "stubborn": True, "orphan": 300}
    with Fake(tmp_path, turn, {"text": "On."}) as machine:
        id = machine.begin()
        machine.until(lambda: machine.saying(id))
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"
        machine.until(lambda: machine.carriers(id) == [])
        assert machine.send(id, "again").last_stop.reason == "completed"


def test_a_cold_session_is_brought_back_idle(tmp_path):
    with Fake(tmp_path, {"text": "Hello."}, {"text": "Again."}) as machine:
        first = machine.run()
        id, token = first.id, first.agent_session_id
        machine.hold("down", "--kill")
        machine.until(lambda: machine.carriers(id) == [])
        machine.up()
        assert machine.status(id)["reason"] == "agent_not_running"
        machine.client.post(f"/api/sessions/{id}/reattach", {}, dict)
        machine.until(lambda: machine.status(id)["is_agent_running"])
        machine.until(lambda: machine.events(id, "reattached"))
        assert machine.starts()[1][:2] == ["--resume", token]
        assert machine.prompts(token) == ["go"]
        assert machine.runs(id) == 1
        assert machine.send(id, "and now?").last_stop.reason == "completed"
        assert machine.prompts(token) == ["go", "and now?"]
        assert len(machine.starts()) == 2


def test_a_prompt_to_a_cold_session_brings_it_back_first(tmp_path):
    with Fake(tmp_path, {"text": "Hello."}, {"text": "Again."}) as machine:
        first = machine.run()
        machine.shoot(first.id)
        machine.until(lambda: not machine.status(first.id)["is_agent_running"])
        after = machine.send(first.id, "--and now?")
        assert after.last_stop.reason == "completed"
        assert machine.prompts(first.agent_session_id) == ["go", " --and now?"]


def test_two_resumes_at_once_are_one(tmp_path):
    with Fake(tmp_path, {"crash_at": 1}, SLOW) as machine:
        id = machine.run().id
        with ThreadPoolExecutor(4) as pool:
            runs = list(pool.map(lambda _: machine.resume(id), range(4)))
        assert sorted(run.already_running for run in runs) == [False, True, True, True]
        machine.stopped(id, 2)
        assert len(machine.starts()) == 2


def test_a_record_that_is_gone_means_a_fresh_start_that_is_seen(tmp_path):
    with Fake(tmp_path, {"text": "Ninety-nine."}, {"text": "Fresh."}) as machine:
        first = machine.run()
        token = first.agent_session_id
        machine.shoot(first.id)
        machine.until(lambda: not machine.status(first.id)["is_agent_running"])
        (machine.memory / "projects" / "fake" / f"{token}.jsonl").unlink()
        after = machine.send(first.id, "more")
        assert after.agent_session_id not in (None, token)
        (told,) = machine.prompts(after.agent_session_id)
        assert "[ASSISTANT]: Ninety-nine." in told


def test_a_torn_record_loses_only_the_torn_line(tmp_path):
    with Fake(tmp_path, {"text": "Whole.", "torn": True, "junk": True}) as machine:
        done = machine.run()
        assert done.last_stop.reason == "completed"
        assert machine.texts(done.id) == ["Whole."]
        kinds = [event.data["kind"] for event in machine.events(done.id, "notice")]
        assert kinds.count("record_torn") == 1


@either
def test_another_conversation_than_the_one_asked_for_is_seen(tmp_path, hooks):
    with Fake(tmp_path, {"text": "a"}, {"text": "b"}, hooks=hooks) as machine:
        first = machine.run()
        machine.shoot(first.id)
        machine.until(lambda: not machine.status(first.id)["is_agent_running"])
        (machine.memory / "other_id").touch()
        after = machine.send(first.id, "more")
        assert after.last_stop.reason == "completed"
        assert after.agent_session_id != first.agent_session_id
        (lost,) = machine.events(first.id, "context_lost")
        assert first.agent_session_id in lost.data["why"]
        assert machine.texts(first.id) == ["a", "b"]


def test_an_agent_that_does_not_know_its_conversation_says_so(tmp_path):
    with Fake(tmp_path, {"text": "a"}, {"text": "b"}) as machine:
        first = machine.run()
        machine.shoot(first.id)
        machine.until(lambda: not machine.status(first.id)["is_agent_running"])
        (machine.memory / "forgets").touch()
        refused = machine.send(first.id, "more")
        assert refused.state == "WAITING_FOR_INPUT"
        assert "does not know its earlier conversation" in refused.last_stop.message
        assert refused.agent_session_id is None
        after = machine.send(first.id, "again")
        assert after.last_stop.reason == "completed"
        assert "[ASSISTANT]: a" in machine.prompts(after.agent_session_id)[0]


@either
def test_errors_are_classified_and_the_agent_stays(tmp_path, hooks):
    limit = {"fail": {"status": 429, "message": "API Error: Request rejected (429) - slow down"}}
    with Fake(tmp_path, limit, {"text": "Better."}, hooks=hooks) as machine:
        stopped = machine.run()
        assert stopped.last_stop.reason == "rate_limited"
        assert machine.send(stopped.id, "again").last_stop.reason == "completed"
        assert len(machine.starts()) == 1


@either
def test_what_is_typed_in_the_terminal_is_a_run_like_any_other(tmp_path, hooks):
    with Fake(tmp_path, {"text": "a"}, {"text": "b"}, {"text": "c"}, hooks=hooks) as machine:
        id = machine.run().id
        machine.press(id, "typed here", "Enter")
        assert machine.stopped(id, 2).last_stop.reason == "completed"
        accepted = machine.events(id, "input_accepted")
        assert [event.data["text"] for event in accepted] == ["go", "typed here"]
        assert machine.send(id, "and sent").last_stop.reason == "completed"
        assert machine.texts(id) == ["a", "b", "c"]


def test_one_that_leaves_by_itself_is_gone_and_comes_back(tmp_path):
    with Fake(tmp_path, {"text": "a"}, {"text": "b"}) as machine:
        id = machine.run().id
        machine.press(id, "/exit", "Enter")
        machine.until(lambda: not machine.status(id)["is_agent_running"])
        machine.until(lambda: machine.panes() == [])
        assert machine.send(id, "more").last_stop.reason == "completed"


def test_a_long_prompt_is_pasted(tmp_path):
    with Fake(tmp_path, {"text": "a"}) as machine:
        long = "line of text\n" * 9000
        done = machine.run(long)
        assert done.last_stop.reason == "completed"
        assert machine.prompts(done.agent_session_id) == [long.strip()] or [long] == (
            machine.prompts(done.agent_session_id)
        )


def test_without_hooks_or_a_last_word_a_still_screen_ends_the_turn(tmp_path):
    with Fake(tmp_path, {"text": "a", "mute": True}, hooks=False) as machine:
        assert machine.run().last_stop.reason == "completed"


def test_taken_back_it_begins_anew_with_what_was_kept(tmp_path):  # spec: D8
    with Fake(tmp_path, {"text": "a"}, {"text": "b"}, {"text": "c"}) as machine:
        first = machine.run("first")
        machine.send(first.id, "second")
        machine.hold("rewind", first.id, "--to", "1")
        machine.until(lambda: machine.carriers(first.id) == [])
        back = machine.send(first.id, "third")
        assert back.last_stop.reason == "completed"
        assert back.agent_session_id not in (None, first.agent_session_id)
        (told,) = machine.prompts(back.agent_session_id)
        assert "[USER]: first" in told and "third" in told and "second" not in told
        assert machine.prompts(first.agent_session_id) == ["first", "second"]
        assert machine.texts(first.id) == ["a", "b", "c"]
