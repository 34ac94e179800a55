"""A question on an agent's screen: seen, kept over a crash, answered with a key, and gone when it is gone."""

import shutil

import pytest

from tests.agents.terminal.fake import Fake

# spec: E11 P9 H1 G1

pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.timeout(120),
]
ASKS = {"ask": "Bash(rm)", "text": "Done."}
# What says so: a hook, the screen, both.
told_by = pytest.mark.parametrize(
    ("hooks", "asks"), [(True, False), (False, True), (True, True)], ids=["hook", "screen", "both"]
)


def asked(machine, id):
    (question,) = machine.until(lambda: machine.session(id).pending)
    return question


def answer(machine, id, question, given):
    body = {"decision": question.id, "answer": given}
    machine.client.post(f"/api/sessions/{id}/decisions", body, dict)


@pytest.mark.parametrize(("given", "said"), [("yes", "Granted."), ("no", "Denied.")])
def test_it_is_asked_here_and_answered_there(tmp_path, given, said):
    with Fake(tmp_path, ASKS) as machine:
        id = machine.begin()
        question = asked(machine, id)
        assert "Bash(rm)" in question.text
        answer(machine, id, question, given)
        assert machine.stopped(id).last_stop.reason == "completed"
        assert machine.texts(id) == [said, "Done."]
        assert len(machine.events(id, "decision_asked")) == 1


@told_by
def test_it_is_still_asked_after_the_daemon_was_killed(tmp_path, hooks, asks):
    with Fake(tmp_path, ASKS, hooks=hooks, asks=asks) as machine:
        id = machine.begin()
        before = asked(machine, id)
        machine.kill()
        machine.up()
        after = asked(machine, id)
        assert after.id == before.id
        answer(machine, id, after, "yes")
        assert machine.stopped(id).last_stop.reason == "completed"
        assert machine.texts(id) == ["Granted.", "Done."]
        assert len(machine.events(id, "decision_asked")) == 1


def test_answered_in_the_terminal_it_is_no_question_any_more(tmp_path):
    slow = {**ASKS, "texts": ["a", "b"], "pace_ms": 4000}
    with Fake(tmp_path, slow, asks=True) as machine:
        id = machine.begin()
        asked(machine, id)
        machine.press(id, "1")
        machine.until(lambda: not machine.session(id).pending)
        (gone,) = machine.events(id, "decision_dismissed")
        assert "answered in the terminal" in gone.data["why"]
        assert machine.stopped(id).last_stop.reason == "completed"
