"""`diff` and `apply`: the work is seen and taken; where that cannot be, both sides stay as they are."""

# spec: H4 I1 I2

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.desk import GIT


def call(name, **given):
    return {"name": name, "input": given}


WORK = (
    {
        "text": "Working.",
        "tool_calls": [
            call("write", path="kept.txt", content="kept\n"),
            call("git_commit", message="keep it"),
            call("write", path="loose.txt", content="loose\n"),
        ],
    },
    {"text": "Done."},
)


def git(user, *args):
    done = subprocess.run(
        ["git", *args],
        cwd=user.repo,
        env={**os.environ, **GIT},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def worked(user, rows=WORK):
    done = user.run(rows, "--mode", "full")
    assert done.returncode == 0, done.stderr
    return done.stdout.split("hold resume ")[1].split()[0], done.stdout


@pytest.fixture(scope="module")
def made(regular):
    return worked(regular)


def test_the_end_of_a_run_says_what_changed_and_how_to_take_it(made):
    id, told = made
    assert f"2 files changed, +2 -0   See it: hold diff {id}" in told
    assert f"Take it with: hold apply {id}" in told
    assert "branch hold/please-" in told


def test_a_diff_is_a_patch_that_git_takes(regular, made, tmp_path):
    patch = regular.hold("diff", made[0]).stdout
    assert "+kept" in patch and "+loose" in patch and "\x1b" not in patch
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply"], cwd=tmp_path, input=patch, text=True, check=True)
    assert "loose\n" == (tmp_path / "loose.txt").read_text()


def test_a_diff_is_a_table_or_a_document(regular, made):
    assert "2 files changed, 2 insertions(+)" in regular.hold("diff", made[0], "--stat").stdout
    found = regular.json("diff", made[0])
    assert [("kept.txt", "added"), ("loose.txt", "untracked")] == [
        (f["path"], f["status"]) for f in found["files"]
    ]
    assert (2, 0, False) == (found["added"], found["removed"], found["truncated"])
    assert "+kept" in found["files"][0]["patch"]
    assert "" == regular.json("diff", made[0], "--stat")["files"][0]["patch"]


def test_one_file_is_shown_alone_and_an_unchanged_one_is_refused(regular, made):
    one = regular.hold("diff", made[0], "--path", "loose.txt")
    assert "+loose" in one.stdout and "kept" not in one.stdout
    none = regular.hold("diff", made[0], "--path", "nowhere")
    assert (1, True) == (none.returncode, "did not change 'nowhere'" in none.stderr)


def test_a_diff_of_twenty_thousand_lines_is_cut_for_the_page_and_whole_for_a_pipe(regular):
    text = "".join(f"{n} of a very long file that somebody wrote\n" for n in range(20_000))
    rows = ({"text": "Much.", "tool_calls": [call("write", path="big", content=text)]},)
    id, _ = worked(regular, rows)
    [file] = regular.json("diff", id)["files"]
    assert file["truncated"] and len(file["patch"]) < 250_000 and 20_000 == file["added"]
    assert 20_000 < len(regular.hold("diff", id).stdout.splitlines())
    [whole] = regular.json("diff", id, "--path", "big")["files"]
    assert not whole["truncated"] and "+19999 of" in whole["patch"]


def test_apply_brings_the_work_into_the_branch(user):
    id, _ = worked(user)
    done = user.json("apply", id)
    assert ("main", True, 2) == (done["branch"], done["moved"], done["files"])
    assert "loose\n" == (user.repo / "loose.txt").read_text()
    assert "" == git(user, "status", "--porcelain")
    again = user.hold("apply", id)
    assert (0, True) == (again.returncode, "has all of it" in again.stdout)
    assert 1 == user.hold("logs", id).stdout.count("! Applied: main has it: 2 files")


def test_apply_as_one_commit_to_another_branch(user):
    git(user, "branch", "other")
    id, _ = worked(user)
    done = user.hold("apply", id, "--squash", "--to", "other")
    assert (0, True) == (done.returncode, "other has it: 2 files" in done.stdout)
    assert "2" == git(user, "rev-list", "--count", "other").strip()
    assert not (user.repo / "loose.txt").exists()


def test_a_dirty_tree_and_a_conflict_are_refused_and_stay_as_they_are(user):
    id, _ = worked(user)
    (user.repo / "kept.txt").write_text("mine\n")
    git(user, "add", "kept.txt")
    dirty = user.hold("apply", id)
    assert (1, True) == (dirty.returncode, "uncommitted changes" in dirty.stderr)
    git(user, "commit", "-qm", "mine")
    clash = user.hold("apply", id)
    assert (1, True) == (clash.returncode, "conflicts with main" in clash.stderr)
    assert "kept.txt" in clash.stderr
    assert ("mine\n", "") == ((user.repo / "kept.txt").read_text(), git(user, "status", "-s"))


@pytest.mark.parametrize("verb", ["diff", "apply"])
def test_a_plain_folder_has_nothing_to_compare(regular, verb):
    folder = regular.folder / f"plain-{verb}"
    folder.mkdir()
    regular.hold("new", "--here", "--no-git", "--model", "scripted:/dev/null", cwd=folder)
    id = regular.json("ls")["sessions"][0]["id"]
    done = regular.hold(verb, id)
    assert (1, True) == (done.returncode, "without git nothing is compared" in done.stderr)


@pytest.mark.parametrize("verb", ["diff", "apply"])
def test_an_unknown_session_exits_3(regular, verb):
    assert 3 == regular.hold(verb, "ffffffffffff").returncode


def test_every_round_can_be_gone_back_to_exactly_however_quick_the_next_one_was(regular):
    # spec: D8
    def writes(n):
        call = {"name": "write", "input": {"path": f"{n % 2}.txt", "content": f"round {n}"}}
        return {"text": f"{n}", "tool_calls": [call, {"name": "list", "input": {}}]}

    last = 6
    script = (*(writes(n) for n in range(1, last + 1)), {"text": "Done."})
    id = regular.detached(script, "--mode", "full")
    regular.stopped(id)
    for n in range(last + 1):
        expected = {f"{k % 2}.txt": f"round {k}" for k in (n - 1, n) if k > 0}
        child = regular.json("fork", id, "--at", str(n))["id"]
        tree = Path(regular.session(child)["workspace"]["path"])
        found = {path.name: path.read_text() for path in tree.glob("*.txt")}
        assert (n, expected) == (n, found)
