"""`hold task` and `hold run --task`."""

from tests.cli.desk import QUICK, SLOW


def test_a_task_follows_the_work_of_its_sessions(user):  # spec: A11
    made = user.json("task", "new", "Mend the roof", "-d", "Before winter.")
    id = made["id"]
    assert made["state"] == "TODO"

    session = user.detached(SLOW, "--task", id[:4])
    user.at_work(session)
    assert user.json("task", "show", id)["state"] == "IN_PROGRESS"
    user.hold("stop", session)
    waiting = user.json("task", "show", id)
    assert (waiting["state"], waiting["sessions"]) == ("REVIEW", [session])

    assert "DONE" in user.hold("task", "done", id).stdout
    assert "No tasks" in user.hold("task", "ls").stdout
    assert "Mend the roof" in user.hold("task", "ls", "--all").stdout


def test_a_run_without_a_prompt_is_told_the_tasks_text(user):  # spec: A11 G6
    id = user.json("task", "new", "Mend the roof", "-d", "Before winter.")["id"]
    done = user.hold("run", "--model", user.script(QUICK), "--task", id)
    assert done.returncode == 0, done.stderr
    session = user.json("ls")["sessions"][0]["id"]
    assert '"Mend the roof\\n\\nBefore winter."' in user.hold("logs", session, "--json").stdout


def test_bad_input_is_told_in_one_line(user):  # spec: M1 I2
    nothing = user.hold("run", "--model", user.script(QUICK))
    unknown = user.hold("run", "--model", user.script(QUICK), "--task", "beef", "go")
    untitled = user.hold("task", "new", "  ")
    assert (nothing.returncode, unknown.returncode, untitled.returncode) == (2, 3, 2)
    assert "There is no task 'beef'" in unknown.stderr
    assert user.json("ls")["sessions"] == []
