"""Git as the agent's tools use it, on a real work tree."""

# spec: B3, H3

import subprocess

import pytest

from holdfast.workspaces.session_git import SessionGit
from holdfast.workspaces.worktree import in_place
from tests.agents.builtin.house import repository


@pytest.fixture
def repo(tmp_path):
    return repository(tmp_path / "repo")


def plain(repo, *args):
    done = subprocess.run(["git", *args], cwd=repo, capture_output=True, text=True, check=True)
    return done.stdout.strip()


async def test_a_commit_takes_everything_that_is_not_ignored_and_leaves_a_clean_tree(repo):
    (repo / ".gitignore").write_text("*.log\n")
    (repo / "new.txt").write_text("x\n")
    (repo / "a.log").write_text("x\n")
    (repo / "hello.txt").unlink()
    git = SessionGit(await in_place(repo))

    said = await git.commit("work", ())

    assert not said.failed, said.text
    assert "work" == plain(repo, "log", "-1", "--format=%s")
    assert "" == plain(repo, "status", "--porcelain")
    assert {".gitignore", "new.txt"} == set(plain(repo, "ls-files").split())


async def test_a_commit_of_some_paths_leaves_the_rest(repo):
    (repo / "one").write_text("1")
    (repo / "two").write_text("2")
    git = SessionGit(await in_place(repo))

    said = await git.commit("one only", ("one",))

    assert not said.failed, said.text
    assert "?? two" == plain(repo, "status", "--porcelain")
    assert ("one only\n", ("two",)) == (
        (await git.head_message()).rstrip() + "\n",
        await git.dirty(()),
    )


async def test_no_hook_of_the_repository_is_run(repo):
    hook = repo / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\ntouch hit\nexit 1\n")
    hook.chmod(0o755)
    (repo / "x").write_text("x")

    said = await SessionGit(await in_place(repo)).commit("work", ())

    assert not said.failed
    assert not (repo / "hit").exists()


async def test_nothing_to_commit_is_said(repo):
    said = await SessionGit(await in_place(repo)).commit("nothing", ())

    assert (True, "There is nothing to commit.") == (said.failed, said.text)


async def test_status_and_diff_are_told(repo):
    (repo / "hello.txt").write_text("changed\n")
    git = SessionGit(await in_place(repo))

    assert "On main\n M hello.txt" == (await git.status()).text
    assert "+changed" in (await git.diff("hello.txt")).text
