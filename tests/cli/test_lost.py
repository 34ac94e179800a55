"""A work tree that somebody removed: resume brings it back with everything that was saved."""

# spec: D5, D8, D9, G5, C2

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.cli.desk import SLOW, WRITE, until

WRITES = (
    {"text": "Writing.", "tool_calls": [WRITE]},
    {"text": "Written."},
    {"text": "Going on."},
)
SLOWLY = {"name": "shell", "input": {"command": "sleep 0.3"}}
KEEPS_AT_IT = ({"text": "w", "tool_calls": [WRITE]}, *({"text": "s", "tool_calls": [SLOWLY]},) * 40)


def made(user, rows=WRITES):
    done = user.run(rows, "--mode", "full")
    assert done.returncode == 0, done.stderr
    session = user.json("ls")["sessions"][0]
    tree = Path(session["workspace"]["path"])
    assert (tree / "a.txt").read_text() == "hello"
    until(lambda: "workspace_snapshotted" in user.hold("logs", session["id"], "--json").stdout)
    return session["id"], tree


def kinds(user, id):
    lines = user.hold("logs", id, "--json").stdout.splitlines()
    return [json.loads(line)["type"] for line in lines]


def test_removed_while_idle_it_is_back_after_a_resume(user):
    id, tree = made(user)
    shutil.rmtree(tree)
    plan = user.json("resume", id, "--plan")
    assert (plan["would_run"], plan["drift"]) == (True, "workspace_missing")
    assert "the branch hold/please" in plan["rebuild"] and "and snapshot 1" in plan["rebuild"]
    assert "made again from the branch hold/" in user.hold("resume", id, "--plan").stdout
    assert not tree.exists()  # a plan changes nothing

    done = user.hold("resume", id)

    assert (done.returncode, "Going on." in done.stdout) == (0, True), done.stdout + done.stderr
    assert "! The workspace was made again, with the work of snapshot 1" in done.stdout
    assert (tree / "a.txt").read_text() == "hello"
    seen = kinds(user, id)
    assert seen.index("workspace_lost") < seen.index("workspace_rebuilt")
    again = len(seen) - 1 - seen[::-1].index("run_started")
    assert seen.index("workspace_rebuilt") < again


def test_a_prompt_brings_it_back_too_and_two_at_once_begin_one_run(user):
    id, tree = made(user)
    shutil.rmtree(tree)
    with ThreadPoolExecutor() as both:
        done = list(both.map(lambda _: user.hold("resume", id), range(2)))
    assert [d.returncode for d in done] == [0, 0], [d.stderr for d in done]
    assert kinds(user, id).count("workspace_rebuilt") == 1
    shutil.rmtree(tree)
    sent = user.hold("send", id, "and now?")
    assert sent.returncode == 0, sent.stderr
    assert (tree / "a.txt").read_text() == "hello"


def test_removed_under_a_run_the_run_ends_and_the_next_one_has_the_files(user):
    id = user.detached(KEEPS_AT_IT, "--mode", "full")
    tree = Path(user.session(id)["workspace"]["path"])
    until(lambda: "workspace_snapshotted" in user.hold("logs", id, "--json").stdout)
    shutil.rmtree(tree)
    session = user.stopped(id)
    assert session["last_stop"]["reason"] == "error"
    assert "The workspace was lost under the run" in session["last_stop"]["message"]
    resumed = user.hold("resume", id, "--detach")
    assert resumed.returncode == 0, resumed.stderr
    assert (tree / "a.txt").read_text() == "hello"
    user.hold("stop", id)


def test_the_daemon_dies_in_a_run_whose_tree_is_then_removed(user):
    """Killed twice: in the run, and again as soon as the next daemon is up."""
    go = user.folder / "go"
    slow = {"text": "word " * 30, "pauses": [{"after": 9, "until": str(go)}]}
    id, tree = made(user, (*WRITES[:2], slow))
    user.hold("resume", id, "--detach")
    until(lambda: kinds(user, id).count("round_started") == 3, "the second run")
    user.kill_daemon()
    shutil.rmtree(tree)
    assert user.session(id)["last_stop"]["reason"] == "interrupted"  # the next one says so
    user.kill_daemon()
    go.touch()
    done = user.hold("resume", id)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tree / "a.txt").read_text() == "hello"
    briefing = next(
        json.loads(line)["data"]["briefing"]
        for line in reversed(user.hold("logs", id, "--json").stdout.splitlines())
        if '"run_started"' in line
    )
    assert "is gone and this one was made in its place" in briefing
    assert "- Dirty files: a.txt" in briefing


def test_what_cannot_be_made_again_is_said_and_nothing_is_lost(user):
    id, tree = made(user)
    shutil.rmtree(tree)
    moved = user.repo.rename(user.folder / "elsewhere")
    before = user.hold("logs", id, cwd=user.folder).stdout
    refused = user.hold("resume", id, cwd=user.folder)
    assert refused.returncode == 1
    assert f"{tree} is gone and cannot be made again: The repository" in refused.stderr
    assert "Put that right and resume again" in refused.stderr
    planned = json.loads(user.hold("resume", id, "--plan", "--json", cwd=user.folder).stdout)
    assert (planned["would_run"], "cannot be made again" in planned["reason"]) == (False, True)
    assert user.hold("logs", id, cwd=user.folder).stdout == before

    moved.rename(user.repo)  # put right
    assert user.hold("resume", id).returncode == 0
    assert (tree / "a.txt").read_text() == "hello"


def test_a_folder_of_the_users_own_is_not_made_for_them(user):
    place = user.folder / "plain"
    place.mkdir()
    model = user.script(SLOW[1:])
    ran = user.hold("run", "--here", "--no-git", "--model", model, "please", cwd=place)
    assert ran.returncode == 0, ran.stderr
    shutil.rmtree(place)
    id = user.json("ls")["sessions"][0]["id"]
    refused = user.hold("resume", id)
    assert (refused.returncode, place.exists()) == (1, False)
    assert "It is a folder of yours" in refused.stderr
