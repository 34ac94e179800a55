"""`rename pin tag archive rm restore queue`, and the list that they change."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.desk import QUICK, SLOW, WRITE, until

WRITES = ({"text": "I write.", "tool_calls": [WRITE]}, {"text": "Done."})


@pytest.fixture(scope="module")
def done(regular):
    """A session that is done."""
    id = regular.detached(QUICK)
    regular.stopped(id)
    return id


def ids(user, *options):
    return [s["id"] for s in user.json("ls", *options)["sessions"]]


def git(folder, *arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


# --- names, tags, the archive -----------------------------------------------------------------------


def test_a_session_gets_another_title(regular, done):  # spec: A1 I1 I2
    assert regular.hold("rename", done[:6], "A better name").returncode == 0
    assert regular.session(done)["title"] == "A better name"
    again = regular.hold("rename", done, "A better name")
    assert (again.returncode, again.stdout) == (0, f"Nothing to do: {done}\n")
    empty = regular.hold("rename", done, "  ")
    assert (empty.returncode, "needs a title" in empty.stderr) == (1, True)
    assert regular.hold("rename", "fffffffff", "x").returncode == 3


def test_pinned_comes_first_for_people(regular, done):  # spec: A1 I5
    later = regular.detached(QUICK)
    regular.stopped(later)
    assert regular.json("pin", done)["pinned"] is True
    regular.hold("rename", later, "Changed last")
    assert regular.hold("ls").stdout.splitlines()[1].startswith(done[:4])
    assert ids(regular)[0] == later, "a program gets the newest update first"
    assert regular.json("pin", "--undo", done)["pinned"] is False
    assert not regular.hold("ls").stdout.splitlines()[1].endswith("*")


def test_tags_are_put_on_taken_off_and_looked_for(regular, done):  # spec: A1 I1
    assert regular.json("tag", done, "+slow", "urgent")["tags"] == ["slow", "urgent"]
    assert regular.json("tag", done, "-slow")["tags"] == ["urgent"]
    assert regular.hold("tag", done).stdout == "urgent\n"
    assert ids(regular, "--tag", "urgent") == [done]
    assert ids(regular, "--tag", "slow") == []
    assert "#urgent" in regular.hold("ls", "--tag", "urgent").stdout
    assert regular.hold("ls", "--tag", "slow").stdout == "No such sessions.\n"
    assert regular.hold("tag", done, "+two words").returncode == 1


def test_the_list_is_narrowed_by_state(regular, done):  # spec: I1
    fresh = regular.json("new", "--model", regular.script(QUICK))["id"]
    assert ids(regular, "--state", "created") == [fresh]
    assert fresh not in ids(regular, "--state", "WAITING_FOR_INPUT")
    assert regular.hold("ls", "--state", "tired").returncode == 2


def test_an_archived_session_is_out_of_sight_and_takes_no_prompt(regular):  # spec: A1 G4
    id = regular.detached(QUICK)
    regular.stopped(id)
    assert regular.json("archive", id)["archived"] is True
    assert id not in ids(regular)
    assert ids(regular, "--archived") == [id]
    assert id in ids(regular, "--all")
    sent = regular.hold("send", id, "more")
    assert (sent.returncode, f"hold archive --undo {id}" in sent.stderr) == (1, True)
    assert regular.json("archive", "--undo", id)["archived"] is False
    assert id in ids(regular)


# --- the trash --------------------------------------------------------------------------------------


def test_a_clean_tree_is_removed_and_its_branch_stays(regular):  # spec: A10 H2
    id = regular.detached(QUICK)
    session = regular.stopped(id)
    tree, branch = Path(session["workspace"]["path"]), session["workspace"]["branch"]
    removed = regular.hold("rm", id)
    assert removed.returncode == 0, removed.stderr
    assert f"hold restore {id}" in removed.stdout
    assert not tree.exists()
    assert git(regular.repo, "rev-parse", branch)
    assert id not in ids(regular) and id not in ids(regular, "--all")
    assert ids(regular, "--trash") == [id]
    refused = regular.hold("resume", id)
    assert (refused.returncode, f"hold restore {id}" in refused.stderr) == (1, True)

    assert regular.hold("restore", id).returncode == 0
    assert git(tree, "rev-parse", "--abbrev-ref", "HEAD") == branch
    assert id in ids(regular)
    assert regular.hold("send", id, "go on").returncode == 0


def test_uncommitted_work_is_never_removed_without_asking(regular):  # spec: H2 P10 I2
    id = regular.detached(WRITES, "--mode", "full")
    tree = Path(regular.stopped(id)["workspace"]["path"])
    refused = regular.hold("rm", id)
    assert refused.returncode == 2
    assert "a.txt" in refused.stderr and "--yes" in refused.stderr
    assert json.loads(regular.hold("rm", id, "--json").stdout)["error"]["code"] == "would_lose"
    assert (tree / "a.txt").read_text() == "hello"

    assert regular.hold("rm", "--yes", id).returncode == 0
    assert not tree.exists()
    logs = [json.loads(line) for line in regular.hold("logs", id, "--json").stdout.splitlines()]
    trashed = next(event for event in logs if event["type"] == "session_trashed")
    assert trashed["data"]["lost"] == ["a.txt"]

    assert regular.hold("restore", id).returncode == 0
    assert (tree / "a.txt").read_text() == "hello", "it was snapshotted before it went"


def test_a_running_session_is_not_removed(user):  # spec: A10
    id = user.detached(SLOW)
    user.at_work(id)
    refused = user.hold("rm", "--yes", id)
    assert (refused.returncode, f"hold stop {id}" in refused.stderr) == (1, True)
    assert user.session(id)["run"] == 1


def test_killed_in_the_middle_the_tree_goes_when_the_daemon_is_back(user):  # spec: A10 P10
    id = user.detached(WRITES, "--mode", "full")
    tree = Path(user.stopped(id)["workspace"]["path"])
    removing = user.begin("rm", "--yes", id)
    until(lambda: "session_trashed" in user.hold("logs", id, "--json").stdout, "the decision")
    user.kill_daemon()
    removing.communicate(timeout=90)
    user.hold("up", "--no-open")
    until(lambda: not tree.exists(), "the end of the tree")
    assert user.hold("restore", id).returncode == 0
    assert (tree / "a.txt").read_text() == "hello"


def test_a_folder_of_the_users_is_left_alone(regular):  # spec: H2
    made = regular.json("new", "--here", "--model", regular.script(QUICK))
    (regular.repo / "mine.txt").write_text("mine")
    assert regular.hold("rm", made["id"]).returncode == 0
    assert (regular.repo / "mine.txt").read_text() == "mine"
    (regular.repo / "mine.txt").unlink()


# --- the queue --------------------------------------------------------------------------------------


def test_what_waits_is_seen_edited_and_dropped(user):  # spec: A9
    id = user.detached(SLOW)
    user.at_work(id)
    for text in ("first", "second", "third"):
        user.hold("send", id, text)
    shown = user.hold("queue", id).stdout
    assert [line.split()[-1] for line in shown.splitlines()] == ["first", "second", "third"]
    user.hold("queue", id, "--edit", "2", "another second")
    first = user.json("queue", id)["queue"][0]["id"]
    left = user.json("queue", id, "--drop", first[:6])
    assert [q["text"] for q in left["queue"]] == ["another second", "third"]
    assert user.hold("queue", id, "--drop", "zz").returncode == 2
    user.hold("stop", id)
    held = user.hold("queue", id).stdout
    assert f"hold resume {id}" in held


# --- for good ---------------------------------------------------------------------------------------


def refs(user, id):
    return git(user.repo, "for-each-ref", "--format=%(refname)", f"refs/holdfast/{id}/")


def test_what_is_removed_for_good_is_gone_and_says_so(regular):  # spec: A10 I2 M1
    id = regular.detached(WRITES, "--mode", "full")
    session = regular.stopped(id)
    until(lambda: refs(regular, id), "a snapshot")
    unsure = regular.hold("rm", "--now", id)
    assert (unsure.returncode, "--yes" in unsure.stderr) == (2, True)
    assert id in ids(regular)

    removed = regular.hold("rm", "--now", "--yes", id)
    assert (removed.returncode, removed.stdout) == (0, f"Removed for good: {id}\n")
    assert id not in ids(regular, "--trash")
    assert refs(regular, id) == ""
    assert git(regular.repo, "rev-parse", session["workspace"]["branch"])
    late = regular.hold("restore", id[:8])
    assert late.returncode == 3
    assert f"Session {id} was removed for good on 20" in late.stderr
    assert "git branch" in late.stderr
