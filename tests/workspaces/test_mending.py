"""Work trees that go, come back when they were lost, and locks that the dead left."""

# spec: H2 P10

import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.core.value import replace
from holdfast.workspaces.errors import (
    Occupied,
    WorkspaceError,
    WouldLose,
)
from holdfast.workspaces.mending import clear_dead_lock, rebuild, remove
from holdfast.workspaces.snapshots import ref_of, take
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import in_place
from tests.workspaces.repos import S, at, commit, content, git, make_repo, make_tree, spoil


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path)


# --- removing -------------------------------------------------------------------------------------


async def test_a_clean_tree_goes_and_its_branch_stays(repo):
    workspace = (await make_tree(repo)).workspace
    done = commit(at(workspace), "work")
    await remove(workspace)
    assert list((repo.parent / "state/worktrees").iterdir()) == []
    assert git(repo, "rev-parse", workspace.branch) == done
    assert git(repo, "worktree", "list").count("\n") == 0
    await_again = (await make_tree(repo)).workspace
    assert await_again.branch == "hold/fix-it-3fa90c11"


@pytest.mark.parametrize("change", ["edit", "untracked", "staged", "deleted", "nested"])
async def test_uncommitted_work_is_not_removed(repo, change):
    workspace = (await make_tree(repo)).workspace
    path = at(workspace)
    match change:
        case "edit":
            (path / "a.txt").write_text("work\n")
        case "untracked":
            (path / "new.txt").write_text("work\n")
        case "staged":
            (path / "new.txt").write_text("work\n")
            git(path, "add", "new.txt")
        case "deleted":
            (path / "a.txt").unlink()
        case "nested":
            git(path, "init", "-q", "inner")
            commit(path / "inner")
    before = content(path)
    with pytest.raises(WouldLose) as refused:
        await remove(workspace)
    assert refused.value.names
    assert content(path) == before
    await remove(workspace, force=True)
    assert not path.exists()


async def test_commits_on_no_branch_are_not_removed(repo):
    workspace = (await make_tree(repo)).workspace
    path = at(workspace)
    git(path, "checkout", "-q", "--detach")
    commit(path, "nowhere else")
    with pytest.raises(WouldLose, match="nowhere else"):
        await remove(workspace)
    assert path.exists()


async def test_a_branch_whose_commits_are_nowhere_else_is_not_deleted(repo):
    workspace = (await make_tree(repo)).workspace
    done = commit(at(workspace), "precious")
    with pytest.raises(WouldLose, match="precious"):
        await remove(workspace, delete_branch=True)
    assert at(workspace).exists()
    git(repo, "merge", "-q", done)
    await remove(workspace, delete_branch=True)
    assert "hold/" not in git(repo, "branch")


async def test_what_cannot_be_looked_at_is_not_removed(repo):
    workspace = (await make_tree(repo)).workspace
    (at(workspace) / ".git").unlink()
    with pytest.raises(WouldLose, match="cannot be told"):
        await remove(workspace)
    assert at(workspace).exists()


async def test_the_users_own_folder_is_never_removed(repo):
    with pytest.raises(WorkspaceError, match="not made by Holdfast"):
        await remove(await in_place(repo), force=True)
    assert repo.exists()


async def test_a_link_in_its_place_is_removed_and_not_what_it_leads_to(repo):
    workspace = (await make_tree(repo)).workspace
    shutil.rmtree(workspace.path)
    at(workspace).symlink_to(repo)
    await remove(workspace, force=True)
    assert (repo / "a.txt").exists()
    assert not at(workspace).is_symlink()


# --- rebuilding -----------------------------------------------------------------------------------
# spec: D8


async def test_a_lost_tree_comes_back_with_its_uncommitted_work(repo):
    workspace = (await make_tree(repo)).workspace
    path = at(workspace)
    commit(path, "committed work")
    spoil(path)
    (path / "skip.log").unlink()
    await take(workspace, S, 1)
    before = content(path)
    shutil.rmtree(path)
    back = await rebuild(workspace, ref_of(S, 1))
    assert back.workspace == workspace and back.snapshot
    assert content(path) == before
    assert git(path, "branch", "--show-current") == workspace.branch
    assert (await read_truth(workspace)).dirty


async def test_commits_after_the_snapshot_are_kept_too(repo):
    workspace = (await make_tree(repo)).workspace
    path = at(workspace)
    (path / "loose.txt").write_text("uncommitted\n")
    await take(workspace, S, 1)
    (path / "a.txt").write_text("committed later\n")
    git(path, "commit", "-q", "-am", "later")
    shutil.rmtree(path)
    await rebuild(workspace, ref_of(S, 1))
    assert (path / "a.txt").read_text() == "committed later\n"
    assert git(path, "status", "--porcelain") == "?? loose.txt"


async def test_a_snapshot_that_contradicts_later_commits_is_left_aside(repo):
    workspace = (await make_tree(repo)).workspace
    path = at(workspace)
    (path / "a.txt").write_text("one way\n")
    await take(workspace, S, 1)
    (path / "a.txt").write_text("the other way\n")
    git(path, "commit", "-q", "-am", "later")
    shutil.rmtree(path)
    back = await rebuild(workspace, ref_of(S, 1))
    assert back.snapshot == ""
    assert git(path, "status", "--porcelain") == ""


async def test_a_lost_branch_comes_back_from_the_snapshot(repo):
    workspace = (await make_tree(repo)).workspace
    path = at(workspace)
    done = commit(path, "work")
    await take(workspace, S, 1)
    shutil.rmtree(path)
    git(repo, "worktree", "prune")
    git(repo, "branch", "-D", workspace.branch)
    git(repo, "gc", "-q", "--prune=now")
    await rebuild(workspace, ref_of(S, 1))
    assert git(path, "rev-parse", "HEAD") == done


async def test_nothing_is_rebuilt_over_files(repo):
    workspace = (await make_tree(repo)).workspace
    (at(workspace) / ".git").unlink()
    with pytest.raises(Occupied):
        await rebuild(workspace)


async def test_a_branch_that_is_checked_out_elsewhere_names_where(repo, tmp_path):
    workspace = (await make_tree(repo)).workspace
    shutil.rmtree(workspace.path)
    git(repo, "worktree", "prune")
    git(repo, "worktree", "add", "-q", str(tmp_path / "holder"), workspace.branch)
    with pytest.raises(Occupied, match="holder"):
        await rebuild(workspace)


async def test_an_entry_that_is_locked_and_missing_is_ours_to_clear(repo):
    workspace = (await make_tree(repo)).workspace
    git(repo, "worktree", "lock", workspace.path)
    shutil.rmtree(workspace.path)
    await rebuild(workspace)
    assert git(at(workspace), "status", "--porcelain") == ""


# --- locks ----------------------------------------------------------------------------------------


def held_open(path: Path) -> subprocess.Popen[bytes]:
    with path.open("ab") as file:
        return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)


async def test_a_dead_lock_goes_and_a_living_one_stays(repo):
    workspace = (await make_tree(repo)).workspace
    lock = repo / ".git/worktrees" / S / "index.lock"
    lock.write_bytes(b"")
    made_at = lock.stat().st_mtime
    assert not clear_dead_lock(workspace, now=made_at + 10)
    holder = held_open(lock)
    assert not clear_dead_lock(workspace, now=made_at + 10_000)
    holder.communicate()
    assert clear_dead_lock(workspace, now=made_at + 10_000)
    assert not lock.exists()


async def test_the_users_lock_is_not_ours_to_clear(repo):
    (repo / ".git/index.lock").write_bytes(b"")
    assert not clear_dead_lock(await in_place(repo), now=1e12)
    stray = replace(await in_place(repo), id="x")
    assert not clear_dead_lock(stray, now=1e12)
