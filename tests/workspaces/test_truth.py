"""What git says about a workspace, and that an error is never taken for it."""

# spec: D4 D5 H3

import os
import shutil
import time
from pathlib import Path

import pytest

from holdfast.core.truth import Drift, NoTruth, Truth, Workspace, dirty_files, drift
from holdfast.workspaces.git import Git
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import in_place
from tests.workspaces.repos import commit, git, make_repo, make_tree


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path)


async def test_a_clean_tree_is_its_commit_and_its_branch(repo):
    workspace = await in_place(repo)
    assert await read_truth(workspace) == Truth(
        head=git(repo, "rev-parse", "HEAD"),
        branch="main",
        workspace=str(repo),
        repo=str(repo / ".git"),
    )


async def test_every_kind_of_change_is_a_whole_porcelain_line(repo):
    (repo / "a.txt").write_text("one\n2\nthree\nfour\n")
    (repo / "new").mkdir()
    (repo / "new/file.txt").write_text("x\n")
    (repo / "skip.log").write_text("ignored\n")
    (repo / "run.sh").unlink()
    git(repo, "mv", "lib/b.py", "lib/c.py")
    truth = await read_truth(await in_place(repo))
    assert truth.dirty == (
        " M a.txt",
        "R  lib/b.py -> lib/c.py",
        " D run.sh",
        "?? new/file.txt",
    )
    assert truth.changed == ("a.txt", "lib/b.py", "lib/c.py", "run.sh")
    assert truth.untracked == ("new/file.txt",)
    assert truth.stat.splitlines()[0].split("|")[0].strip() == "a.txt"
    assert truth.stat.splitlines()[-1] == " 4 files changed, 3 insertions(+), 3 deletions(-)"


async def test_the_lines_are_the_ones_that_git_prints(repo):
    (repo / "a.txt").write_text("changed\n")
    (repo / "with space").write_text("x")
    (repo / "übung").write_text("x")
    git(repo, "add", "übung")
    truth = await read_truth(await in_place(repo))
    printed = git(repo, "-c", "core.quotePath=false", "status", "--porcelain", "-uall")
    assert list(truth.dirty) == [line.replace('"', "") for line in printed.splitlines()]


@pytest.mark.parametrize(
    "name", ["-rf", "line\nbreak", " -> x", 'quo"te', "back\\slash", "tab\t", " "]
)
async def test_an_unusual_name_comes_through_as_it_is(repo, name):
    (repo / name).write_text("x")
    truth = await read_truth(await in_place(repo))
    assert truth.untracked == (name,)
    assert dirty_files(truth) == (name,)
    assert len(truth.dirty) == 1


async def test_a_name_that_is_no_text_is_still_valid_text_for_the_journal(repo):
    (repo / os.fsdecode(b"caf\xe9")).write_text("x")
    truth = await read_truth(await in_place(repo))
    assert truth.untracked == ("caf�",)
    assert dirty_files(truth) == ("caf�",)
    assert "".join(truth.dirty).encode()


async def test_an_edit_of_a_long_name_is_seen_as_drift(repo):
    name = "/".join(["deep" * 10] * 5) + "/file.txt"
    (repo / name).parent.mkdir(parents=True)
    (repo / name).write_text("1\n")
    commit(repo)
    workspace = await in_place(repo)
    (repo / name).write_text("1\n2\n")
    before = await read_truth(workspace)
    (repo / name).write_text("1\n2\n3\n")
    now = await read_truth(workspace)
    found = drift(workspace=workspace, before=before, now=now, ours=frozenset())
    assert found is Drift.FOREIGN_EDITS


async def test_a_detached_head_is_no_branch(repo):
    workspace = await in_place(repo)
    git(repo, "checkout", "-q", "--detach")
    truth = await read_truth(workspace)
    assert (truth.branch, truth.head) == ("", workspace.base)


async def test_a_tree_of_ours_answers_for_itself(repo):
    made = (await make_tree(repo)).workspace
    (Path(made.path) / "a.txt").write_text("changed\n")
    (repo / "lib/b.py").write_text("the user's\n")
    truth = await read_truth(made)
    assert truth.dirty == (" M a.txt",)
    assert (truth.workspace, truth.repo, truth.branch) == (made.id, made.repo, made.branch)


# --- no truth -------------------------------------------------------------------------------------


async def test_a_missing_folder_is_missing(repo):
    workspace = (await make_tree(repo)).workspace
    shutil.rmtree(workspace.path)
    truth = await read_truth(workspace)
    assert truth == NoTruth(error=f"The folder {workspace.path} is not there.", missing=True)


async def test_other_failures_are_not_taken_for_missing(repo, tmp_path):
    workspace = await in_place(repo)
    unborn = tmp_path / "unborn"
    git(tmp_path, "init", "-q", str(unborn))
    failures = {
        "no repository": Workspace(path=str(_made(tmp_path / "plain"))),
        "no commit yet": Workspace(path=str(unborn)),
        "another repository": Workspace(path=str(repo), repo="/somewhere/else/.git"),
        "no git": workspace,
    }
    for name, failing in failures.items():
        by = Git(program="/nonexistent/git") if name == "no git" else Git()
        truth = await read_truth(failing, by=by)
        assert isinstance(truth, NoTruth), name
        assert not truth.missing, name
        assert truth.error.endswith("."), name


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def test_a_damaged_head_is_said(repo):
    workspace = await in_place(repo)
    (repo / ".git/HEAD").write_text("nonsense\n")
    truth = await read_truth(workspace)
    assert isinstance(truth, NoTruth) and "HEAD names neither" in truth.error


async def test_a_damaged_index_is_said(repo):
    workspace = await in_place(repo)
    (repo / ".git/index").write_bytes(b"DIRCgarbage")
    truth = await read_truth(workspace)
    assert isinstance(truth, NoTruth) and "index" in truth.error


async def test_a_git_that_hangs_is_ended_with_its_children(repo, tmp_path):
    workspace = await in_place(repo)
    pids = tmp_path / "pids"
    slow = tmp_path / "git"
    slow.write_text(f"#!/bin/sh\nsleep 1000 & echo $! $$ >> {pids}\nwait\n")
    slow.chmod(0o755)
    for seconds in (0.3, 3, 30):  # on a busy machine it has not even begun by then
        truth = await read_truth(workspace, by=Git(program=str(slow), seconds=seconds))
        assert truth == NoTruth(error=f"git config did not answer within {seconds} seconds.")
        if pids.exists() and pids.read_text():
            break
    for pid in pids.read_text().split():
        assert await_death(int(pid))


def await_death(pid: int) -> bool:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
    return False


async def test_a_held_lock_does_not_hinder_a_look_and_a_look_takes_none(repo):
    workspace = await in_place(repo)
    (repo / ".git/index.lock").write_bytes(b"")
    os.utime(repo / "a.txt")  # git would like to write down that it is unchanged
    index = (repo / ".git/index").read_bytes()
    assert isinstance(await read_truth(workspace), Truth)
    assert (repo / ".git/index").read_bytes() == index


async def test_a_plain_folder_says_that_nothing_is_known(tmp_path):
    workspace = await in_place(tmp_path, git=False)
    assert isinstance(await read_truth(workspace), NoTruth)
