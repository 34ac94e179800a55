"""`run` and what ends it: the stop, Ctrl-C, a signal, a question, a limit, the daemon's death."""

import json
import signal

from holdfast.client import Client
from tests.cli.desk import ASKING, BUSY, QUICK, SLOW, WRITE, until


def last_line(text):
    return json.loads(text.strip().splitlines()[-1])


def test_a_run_is_followed_to_its_stop(regular):  # spec: I2 I3 I5
    done = regular.run(QUICK)
    assert done.returncode == 0, done.stderr
    assert "All is well." in done.stdout
    id = regular.json("ls")["sessions"][0]["id"]
    assert f"Resume with: hold resume {id}" in done.stdout


def test_a_script_is_named_from_where_the_user_stands(regular):  # spec: B1
    name = regular.script(QUICK).rpartition("/")[2]
    done = regular.hold("run", "--model", f"scripted:../{name}", "please")
    assert done.returncode == 0, done.stdout


def test_json_is_one_line_per_event_and_the_stop_comes_last(regular):  # spec: I5
    done = regular.run(QUICK, "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "run_stopped"
    assert events[-1]["data"]["stop"]["reason"] == "completed"
    assert "hold resume" in done.stderr


def test_a_detached_run_goes_on_by_itself(regular):  # spec: I5
    id = regular.detached(QUICK)
    waited = regular.hold("wait", id)
    assert (waited.returncode, "Completed" in waited.stdout) == (0, True)


def test_ctrl_c_cancels_the_run(user):  # spec: I2
    run = user.begin("run", "--model", user.script(SLOW), "please")
    until(lambda: "begun" in run.stdout.readline(), "some text")
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=90)
    session = user.json("ls")["sessions"][0]
    assert run.returncode == 130
    assert session["last_stop"]["reason"] == "cancelled"
    assert f"hold resume {session['id']}" in out


def test_sigterm_leaves_the_run_running(user):  # spec: I2
    run = user.begin("run", "--model", user.script(SLOW), "please")
    until(lambda: "begun" in run.stdout.readline(), "some text")
    run.send_signal(signal.SIGTERM)
    _, told = run.communicate(timeout=90)
    session = user.json("ls")["sessions"][0]
    assert (run.returncode, session["run"]) == (143, 1)
    assert f"hold show {session['id']}" in told
    assert f"hold resume {session['id']}" in told


def test_text_that_a_power_cut_could_take_is_shown_without_a_place(user):  # spec: J2
    id = user.detached(SLOW)
    lines = Client(user.home).stream("GET", f"/api/sessions/{id}/events?after=0&follow=1")
    shown = next(line for line in map(json.loads, lines) if line["type"] == "delta")
    assert shown["text"].startswith("begun") and "seq" not in shown
    assert "text_saved" not in user.hold("logs", id, "--json").stdout
    user.hold("stop", id)
    assert "text_saved" in user.hold("logs", id, "--json").stdout


def test_stop_ends_a_run_and_wait_says_so(user):  # spec: I2
    id = user.detached(SLOW)
    user.at_work(id)
    assert user.hold("wait", id, "--timeout", "0.1").returncode == 124
    assert user.hold("stop", id).returncode == 0
    assert user.hold("wait", id).returncode == 4
    assert user.session(id)["last_stop"]["reason"] == "cancelled"


def test_a_limit_exits_75_and_can_be_resumed(regular):  # spec: I2 B5
    done = regular.run(BUSY, "--max-rounds", "2")
    assert done.returncode == 75, done.stdout + done.stderr
    assert "Round limit reached" in done.stdout
    id = regular.json("ls")["sessions"][0]["id"]
    assert regular.hold("resume", id, "--max-rounds", "50").returncode == 0


def test_what_all_runs_may_spend_is_not_reset_by_a_resume(regular):  # spec: B5 P7
    rows = tuple({**row, "usage": {"input": 90, "output": 10}} for row in BUSY)
    done = regular.run(rows, "--session-budget-tokens", "100")
    id = regular.json("ls")["sessions"][0]["id"]
    again = regular.hold("resume", id)
    assert (75, 75) == (done.returncode, again.returncode), again.stdout
    assert "of the session reached: 100 of 100 tokens (100%)" in again.stdout
    assert regular.session(id)["tokens"] == {"input": 90, "output": 10}
    assert regular.hold("resume", id, "--session-budget-tokens", "5000").returncode == 0


def test_a_question_without_a_terminal_exits_5_and_is_answered(regular):  # spec: B11 I2
    done = regular.run(ASKING, "--mode", "ask")
    id = regular.json("ls")["sessions"][0]["id"]
    asked = regular.session(id)["pending"]
    assert (done.returncode, len(asked)) == (5, 1)
    first, *others = asked[0]["options"]
    assert f"hold decide {id} {first}   # or {', '.join(others)}\n" in done.stderr
    assert regular.hold("wait", id).returncode == 5
    assert regular.hold("decide", id, "1").returncode == 0
    assert regular.hold("wait", id).returncode == 0
    assert regular.hold("decide", id, "yes").returncode == 3


def test_a_question_can_be_denied_beforehand(regular):  # spec: B11
    done = regular.run(ASKING, "--mode", "ask", "--on-question", "deny")
    assert done.returncode == 0
    assert "answered: no" in done.stdout


def test_a_prompt_while_a_run_is_active_waits_its_turn(user):  # spec: A9
    id = user.detached(SLOW)
    user.at_work(id)
    sent = user.hold("send", id, "and then this")
    assert (sent.returncode, "Queued" in sent.stdout) == (0, True)
    assert [q["text"] for q in user.session(id)["queue"]] == ["and then this"]


# --- the daemon dies or is stopped ------------------------------------------------------------------


def test_after_a_kill_the_session_says_that_it_was_interrupted(user):  # spec: D1 A4
    id = user.detached(SLOW)
    user.at_work(id)
    user.kill_daemon()
    assert "interrupted" in user.hold("ls").stdout
    shown = user.hold("show", id).stdout
    assert "Session was interrupted. Resume where you left off?" in shown
    assert f"hold resume {id}" in shown
    session = user.session(id)
    assert session["state"] == "WAITING_FOR_INPUT"
    assert session["stop"]["reason"] == "interrupted"
    assert session["stop"]["phase"] == "streaming_llm"


def test_a_follower_starts_the_daemon_again_and_prints_the_stop(user):  # spec: I2
    run = user.begin("run", "--model", user.script(SLOW), "please")
    until(lambda: "begun" in run.stdout.readline(), "some text")
    user.kill_daemon()
    out, _ = run.communicate(timeout=90)
    id = user.json("ls")["sessions"][0]["id"]
    assert run.returncode == 1
    assert "Session was interrupted" in out
    assert f"hold resume {id}" in out


def test_going_down_in_order_is_written_down_as_such(user):  # spec: A4 G1
    run = user.begin("run", "--json", "--model", user.script(SLOW), "please")
    until(lambda: "round_started" in run.stdout.readline(), "a round")
    assert user.hold("down").returncode == 0
    out, _ = run.communicate(timeout=90)
    stop = last_line(out)["data"]["stop"]
    assert run.returncode == 1
    assert stop["reason"] == "interrupted"
    assert stop["evidence"]["daemon_stopping"] is True


def test_an_interrupted_run_is_resumed(user):  # spec: D3 D6
    id = user.detached(SLOW)
    user.at_work(id)
    user.kill_daemon()
    plan = user.json("resume", id, "--plan")
    assert (plan["would_run"], plan["strategy"]) == (True, "replay")
    assert plan["message"].startswith("[SESSION_RESUMED]")
    assert user.session(id)["run"] is None
    resumed = user.hold("resume", id, "--detach", "--json")
    assert json.loads(resumed.stdout)["run"] == 2
    assert user.session(id)["stop"] is None


def test_two_resumes_at_once_start_one_run(user):  # spec: A7
    id = user.detached(SLOW)
    user.at_work(id)
    user.kill_daemon()
    user.hold("up", "--no-open")
    both = [user.begin("resume", id, "--detach", "--json") for _ in range(2)]
    answers = [json.loads(one.communicate(timeout=90)[0]) for one in both]
    assert [answer["run"] for answer in answers] == [2, 2]
    assert sorted(answer["already_running"] for answer in answers) == [False, True]


def test_resume_all_takes_what_was_cut_off_and_says_why_not_the_rest(user):  # spec: I1
    done = json.loads(user.run(QUICK, "--detach", "--json").stdout)["id"]
    user.hold("wait", done)
    cut = user.detached(SLOW)
    user.at_work(cut)
    user.kill_daemon()
    found = user.json("resume", "--all")
    assert found["resumed"] == [cut]
    assert found["skipped"] == [{"id": done, "reason": "it is completed"}]


def test_resume_last_is_of_this_repository(user):  # spec: I1
    id = user.detached(SLOW)
    user.at_work(id)
    user.hold("stop", id)
    elsewhere = user.hold("resume", "--last", cwd=user.folder)
    assert (elsewhere.returncode, "nothing to resume" in elsewhere.stderr) == (3, True)
    resumed = user.hold("resume", "--last", "--detach")
    assert (resumed.returncode, id in resumed.stdout) == (0, True)


def test_resume_kill_ends_what_runs_and_carries_on(user):  # spec: I1 A7
    id = user.detached(SLOW)
    user.at_work(id)
    assert user.json("resume", id, "--detach")["already_running"] is True
    killed = user.json("resume", id, "--kill", "--detach")
    assert (killed["run"], killed["already_running"]) == (2, False)
    stops = [json.loads(x) for x in user.hold("logs", id, "--json").stdout.splitlines()]
    assert [s["data"]["stop"]["reason"] for s in stops if s["type"] == "run_stopped"] == [
        "cancelled"
    ]


def test_a_session_goes_on_with_another_model_in_another_mode(regular):  # spec: A8 I1
    id = regular.detached(QUICK)
    regular.stopped(id)
    other = regular.script(({}, {"text": "I am another.", "tool_calls": [WRITE]}))
    refused = regular.hold("resume", id, "--model", "nobody:x")
    assert (refused.returncode, "There is no provider" in refused.stderr) == (2, True)
    done = regular.hold("resume", id, "--model", other, "--mode", "read-only")
    assert (done.returncode, "I am another." in done.stdout) == (0, True)
    session = regular.session(id)
    assert (session["model"], session["mode"]) == (other, "read-only")
    regular.hold("resume", id)
    assert regular.session(id)["model"] == other  # the one of the last run


def test_an_agent_that_is_not_there_is_one_clear_error(regular):  # spec: E14 I2
    id = regular.detached(QUICK)
    regular.stopped(id)
    for more in ((), ("--plan",)):
        refused = regular.hold("resume", id, "--agent", "nobody", *more)
        assert (refused.returncode, "nobody" in refused.stderr) == (2, True)
    assert regular.session(id)["agent"] == "builtin"


def test_a_plan_says_how_much_there_is_to_read(regular):  # spec: E7
    id = regular.detached(QUICK)
    regular.stopped(id)
    plan = regular.json("resume", id, "--plan")
    assert plan["estimate_tokens"] > 10
    assert plan["estimate_usd"] is None, "nobody has a price for a script"
    assert "tokens" in regular.hold("resume", id, "--plan").stdout


def test_down_kill_ends_everything(user):  # spec: G1
    id = user.detached(SLOW)
    user.at_work(id)
    assert user.hold("down", "--kill").returncode == 0
    assert user.hold("status").returncode == 3
    assert user.session(id)["stop"]["reason"] == "interrupted"
