"""`hold adopt`: what other agents left in this home."""

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[1] / "agents" / "transcripts" / "samples"
ID = "11111111-1111-4111-8111-111111111111"
PLACES = {
    "claude": f".claude/projects/-home-user-repo/{ID}.jsonl",
    "copilot": f".copilot/session-state/{ID}/events.jsonl",
    "gemini": ".gemini/tmp/repo/chats/session-2026-11-16T00-46-11111111.jsonl",
    "qwen": f".qwen/projects/-home-user-repo/chats/{ID}.jsonl",
}


@pytest.fixture
def left(user):
    """As if the agents had worked in this user's repository."""
    for agent, place in PLACES.items():
        path = user.folder / place
        path.parent.mkdir(parents=True)
        text = (SAMPLES / f"{agent}.jsonl").read_text()
        path.write_text(text.replace("/home/user/repo", str(user.repo)))
    (user.folder / ".gemini/tmp/repo/.project_root").write_text(str(user.repo))
    return user


def test_what_was_left_is_listed_and_taken_in_once(left):  # spec: E15
    found = left.json("adopt")["records"]
    assert {r["agent"] for r in found} == set(PLACES)
    assert {r["folder"] for r in found} == {str(left.repo)}

    first = left.json("adopt", "1111", "--agent", "claude")["adopted"][0]
    again = left.json("adopt", ID, "--agent", "claude")["adopted"][0]
    assert (first["already"], again["already"]) == (False, True)
    assert first["session"] == again["session"]
    session = left.session(first["session"])
    assert (session["agent"], session["agent_session_id"]) == ("claude", ID)
    assert session["workspace"]["path"] == str(left.repo)
    assert "There is nothing here yet." in left.hold("logs", first["session"]).stdout
    listed = {r["agent"]: r["session"] for r in left.json("adopt")["records"]}
    assert listed["claude"] == first["session"]


def test_nothing_of_theirs_is_changed(left):  # spec: E15
    before = {place: (left.folder / place).read_bytes() for place in PLACES.values()}
    for agent in PLACES:
        assert left.hold("adopt", "1111", "--agent", agent).returncode == 0
    assert before == {place: (left.folder / place).read_bytes() for place in PLACES.values()}


def test_bad_input_is_told_in_one_line(left):  # spec: M1 I2
    unknown = left.hold("adopt", "beefbeef")
    several = left.hold("adopt", "1111")
    shutil.rmtree(left.repo)
    left.repo.mkdir()
    elsewhere = left.hold("adopt", "--here", cwd=left.folder)
    left.repo.rmdir()
    gone = left.hold("adopt", "1111", "--agent", "qwen", cwd=left.folder)
    assert (unknown.returncode, several.returncode, gone.returncode) == (3, 2, 2)
    assert "qwen" in elsewhere.stdout, "below this folder"
    assert "Its folder cannot be used" in gone.stderr


def test_a_database_that_is_not_understood_is_named_and_hides_nothing_else(left):  # spec: E15 M1
    database = left.folder / ".local/share/opencode/opencode.db"
    database.parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(database)) as db:
        db.execute("create table of_another_version (id text)")
    shown = left.hold("adopt")
    assert f"opencode: {database} cannot be read: no such table: session" in shown.stderr
    assert shown.stdout.count(ID[:13]) == len(PLACES)
    (told,) = left.json("adopt")["unread"]
    assert str(database) in told
