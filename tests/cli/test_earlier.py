"""`fork` and `rewind`: going on from an earlier place."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.desk import SLOW, until

SLOWLY = {"chunk_ms": 120}  # a model takes its time; snapshots are 2 s apart
THINKS = "word " * 20


def writes(text, path="a.txt"):
    return {"name": "write", "input": {"path": path, "content": text}}


ROUNDS = (
    {"text": "First.", "tool_calls": [writes("one")]},
    {"text": "Rest.", "tool_calls": [{"name": "list", "input": {}}]},
    {"text": THINKS, **SLOWLY, "tool_calls": [writes("three"), writes("new", "b.txt")]},
    {"text": "Done."},
    {"text": "On we go.", "tool_calls": [writes("five")]},
    {"text": "Really done."},
)


@pytest.fixture(scope="module")
def long(regular):
    """A session of four rounds, waiting."""
    id = regular.detached(ROUNDS, "--mode", "full")
    assert regular.stopped(id)["last_stop"]["reason"] == "completed"
    return id


def events(user, id):
    return [json.loads(line) for line in user.hold("logs", id, "--json").stdout.splitlines()]


def said(user, id):
    words = ("input_accepted", "text_saved")
    return [ev["data"]["text"] for ev in events(user, id) if ev["type"] in words]


def tree(user, id):
    return Path(user.session(id)["workspace"]["path"])


def forked(user, id, *options):
    done = user.hold("fork", id, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["id"]


# --- fork -------------------------------------------------------------------------------------------


def test_a_fork_goes_on_from_a_round_with_the_files_of_that_round(regular, long):  # spec: A2 I1
    child = forked(regular, long, "--at", "2")
    assert said(regular, child) == ["please", "First.", "Rest."]
    assert (tree(regular, child) / "a.txt").read_text() == "one"
    assert not (tree(regular, child) / "b.txt").exists()
    session = regular.session(child)
    assert (session["state"], session["cost"], session["round"]) == ("WAITING_FOR_INPUT", 0, 2)
    assert tree(regular, child) != tree(regular, long)
    recorded = [ev for ev in events(regular, long) if ev["type"] == "session_forked"]
    assert recorded[-1]["data"]["child"] == child

    assert regular.hold("resume", child).returncode == 0
    assert "".join(said(regular, child)[3:]) == f"{THINKS}Done."
    assert (tree(regular, child) / "a.txt").read_text() == "three"


def test_a_completed_session_is_forked_as_it_is(regular, long):  # spec: A2
    (tree(regular, long) / "c.txt").write_text("by hand")
    assert regular.hold("close", forked(regular, long)).returncode == 0
    closed = forked(regular, long)
    regular.hold("close", closed)
    assert "hold fork" in regular.hold("resume", closed).stderr
    child = forked(regular, closed)
    assert said(regular, child) == said(regular, long)
    assert (tree(regular, child) / "a.txt").read_text() == "three"
    assert (tree(regular, child) / "c.txt").read_text() == "by hand"
    assert regular.hold("send", child, "and now?").returncode == 0
    assert regular.session(closed)["state"] == "COMPLETED"
    (tree(regular, long) / "c.txt").unlink()


def test_a_running_session_is_forked_where_its_last_whole_round_ended(user):  # spec: A2
    id = user.detached(SLOW)
    user.at_work(id)
    child = forked(user, id)
    assert (user.session(child)["round"], said(user, child)) == (0, ["please"])
    assert user.session(id)["run"] == 1


def test_there_is_no_fork_beyond_the_last_round(regular, long):  # spec: I2
    refused = regular.hold("fork", long, "--at", "99")
    assert (refused.returncode, "has only 4 rounds" in refused.stderr) == (1, True)
    assert regular.hold("fork", "fffffffff").returncode == 3


def test_without_its_repository_there_is_no_fork_and_no_trace(user):  # spec: M1
    id = user.detached(({"text": "Hi."},))
    user.stopped(id)
    (user.repo / ".git").rename(user.repo / "moved")
    refused = user.hold("fork", id)
    assert (refused.returncode, "repository" in refused.stderr) == (2, True)
    assert [s["id"] for s in user.json("ls")["sessions"]] == [id]


def test_a_fork_that_was_cut_off_is_made_when_the_daemon_is_back(user):  # spec: A2 P1
    id = user.detached(({"text": "Hi.", "tool_calls": [writes("one")]},), "--mode", "full")
    user.stopped(id)
    forking = user.begin("fork", id)
    until(lambda: any(ev["type"] == "session_forked" for ev in events(user, id)), "the decision")
    user.kill_daemon()
    forking.communicate(timeout=90)
    user.hold("up", "--no-open")
    children = until(lambda: [c for c in user.json("ls")["sessions"] if c["id"] != id], "the fork")
    child = children[0]["id"]
    assert said(user, child) == said(user, id)
    assert (tree(user, child) / "a.txt").read_text() == "one"
    assert len(children) == 1


# --- rewind -----------------------------------------------------------------------------------------


def test_a_rewind_takes_back_files_and_words_and_can_be_undone(regular, long):  # spec: D8
    id = forked(regular, long)
    there = tree(regular, id)
    assert regular.hold("send", id, "go on").returncode == 0
    assert (there / "a.txt").read_text() == "five"
    (there / "by-hand.txt").write_text("not committed")
    last = regular.session(id)["round"]

    back = regular.json("rewind", id, "--to", "4")
    assert (there / "a.txt").read_text() == "three"
    assert not (there / "by-hand.txt").exists()
    assert back["undo"] == f"hold fork {id} --at {last}"
    assert back["session"]["last_stop"]["message"] == "Rewound to round 4."
    plan = regular.json("resume", id, "--plan")
    assert (plan["drift"], "SESSION_RESUMED" in plan["message"]) == ("same", False)
    abandoned = regular.hold("rewind", id, "--to", str(last))
    assert (abandoned.returncode, back["undo"] in abandoned.stderr) == (1, True)

    undone = json.loads(regular.hold(*back["undo"].split()[1:], "--json").stdout)["id"]
    assert said(regular, undone) == said(regular, id)
    assert (tree(regular, undone) / "a.txt").read_text() == "five"
    assert (tree(regular, undone) / "by-hand.txt").read_text() == "not committed"


def test_files_alone_or_words_alone(regular, long):  # spec: D8
    id = forked(regular, long)
    there = tree(regular, id)
    regular.hold("rewind", id, "--to", "0", "--conversation-only")
    assert (there / "a.txt").read_text() == "three"
    assert regular.hold("rewind", id, "--to", "0", "--code-only").returncode == 0
    before = subprocess.run(
        ["git", "status", "--porcelain"], cwd=there, check=True, capture_output=True, text=True
    )
    assert "b.txt" in before.stdout, "a fork begins with its parent's files"
    both = regular.hold("rewind", id, "--to", "0", "--code-only", "--conversation-only")
    assert both.returncode == 2


def test_what_runs_is_not_rewound(user):  # spec: D8
    id = user.detached(SLOW)
    user.at_work(id)
    refused = user.hold("rewind", id, "--to", "0")
    assert (refused.returncode, "cannot be rewound" in refused.stderr) == (1, True)
