"""A work tree for a session: made from HEAD, without touching the user's."""

# spec: H2 P10

import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.core.ids import SessionId
from holdfast.core.value import replace
from holdfast.workspaces.errors import (
    Misled,
    NoCommitYet,
    NotARepository,
    Occupied,
    WorkspaceError,
    WouldLose,
)
from holdfast.workspaces.mending import clear_dead_lock, rebuild, remove
from holdfast.workspaces.place import locate
from holdfast.workspaces.snapshots import ref_of, take
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import claim_folder, create, find_repo, in_place, slug
from tests.workspaces.repos import S, T, at, commit, content, git, make_repo, make_tree, state


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path)


def spoil(repo: Path) -> None:
    """Every kind of uncommitted change."""
    (repo / "a.txt").write_text("one\nTWO\nthree\n")
    (repo / "lib/b.py").unlink()
    (repo / "run.sh").chmod(0o644)
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    (repo / "staged.txt").write_text("staged and edited\n")
    (repo / "loose.txt").write_text("untracked\n")
    (repo / "link").symlink_to("a.txt")
    (repo / "skip.log").write_text("ignored\n")


# --- finding --------------------------------------------------------------------------------------


async def test_no_repository_names_the_fix(tmp_path):
    with pytest.raises(NotARepository, match=r"git init.*--here"):
        await find_repo(tmp_path)


async def test_no_commit_names_the_fix(tmp_path):
    git(tmp_path, "init", "-q")
    with pytest.raises(NoCommitYet, match=r"git commit.*--here"):
        await find_repo(tmp_path)


async def test_a_repository_is_found_from_a_folder_in_it(repo):
    found = await find_repo(repo / "lib")
    assert (found.top, found.common, found.branch) == (repo, repo / ".git", "main")


async def test_a_linked_tree_belongs_to_its_repository(repo, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    found = await find_repo(tmp_path / "other")
    assert (found.common, found.branch) == (repo / ".git", "other")


async def test_in_place_is_the_folder_itself(repo, tmp_path):
    assert (await in_place(repo / "lib")).path == str(repo)
    plain = tmp_path / "plain"
    plain.mkdir()
    assert not (await in_place(plain, git=False)).git
    with pytest.raises(NotARepository):
        await in_place(plain)


def test_one_run_per_folder_however_it_is_spelled(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "same").symlink_to(tmp_path / "x")
    active = {S: str(tmp_path / "x")}
    assert claim_folder(str(tmp_path / "same"), active) == S
    assert claim_folder(str(tmp_path / "x/../x/"), active) == S
    assert claim_folder(str(tmp_path), active) is None


# --- making ---------------------------------------------------------------------------------------


async def test_the_tree_is_head_on_a_branch_of_its_own(repo):
    made = await make_tree(repo, title="Make the tests pass!")
    path = at(made.workspace)
    assert path == repo.parent / "state/worktrees" / S
    assert made.workspace.branch == "hold/make-the-tests-pass-3fa9"
    assert made.left_behind == 0
    assert content(path) == content(repo)
    assert git(path, "status", "--porcelain") == ""
    assert git(path, "branch", "--show-current") == made.workspace.branch
    assert git(path, "rev-parse", "HEAD") == made.workspace.base
    git(repo, "fsck", "--strict")


async def test_gits_own_work_tree_commands_know_it(repo):
    made = await make_tree(repo)
    listed = git(repo, "worktree", "list", "--porcelain")
    assert f"worktree {made.workspace.path}\n" in listed
    assert "prunable" not in listed
    git(repo, "worktree", "prune", "-v")
    assert commit(at(made.workspace)) == git(repo, "rev-parse", made.workspace.branch)
    git(repo, "worktree", "remove", made.workspace.path)


async def test_the_users_changes_stay_where_they_are_and_are_counted(repo):
    spoil(repo)
    before = state(repo)
    made = await make_tree(repo)
    after = state(repo)
    before["branches"] = after["branches"]  # one was added
    assert after == before
    assert made.left_behind == 6
    assert git(at(made.workspace), "status", "--porcelain") == ""


async def test_with_changes_they_come_along_uncommitted(repo):
    spoil(repo)
    before = state(repo)
    made = await create(
        await find_repo(repo), state=repo.parent / "s", session=S, title="x", with_changes=True
    )
    path = at(made.workspace)
    after = state(repo)
    before["branches"] = after["branches"]
    assert after == before
    mine = {k: v for k, v in content(repo).items() if k != "skip.log"}
    assert content(path) == mine
    assert git(path, "rev-parse", "HEAD") == made.workspace.base
    assert git(path, "status", "--porcelain", "-uall").splitlines() == [
        " M a.txt",
        " D lib/b.py",
        " M run.sh",
        "?? link",
        "?? loose.txt",
        "?? staged.txt",
    ]


async def test_two_sessions_with_one_title_get_two_branches(repo):
    first = await make_tree(repo, session=S)
    second = await make_tree(repo, session=T)
    assert first.workspace.branch == "hold/fix-it-3fa9"
    assert second.workspace.branch == "hold/fix-it-3fa9ffff"


async def test_a_branch_called_hold_does_not_stand_in_the_way(repo):
    git(repo, "branch", "hold")
    assert (await make_tree(repo)).workspace.branch == "holdfast/fix-it-3fa9"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Größe ändern", "groe-andern"),
        ("", "work"),
        ("../../x", "x"),
        ("--force", "force"),
        ("a.lock", "a-lock"),
    ],
)
def test_a_title_becomes_a_harmless_name(title, expected):
    assert slug(title) == expected


async def test_a_session_id_that_is_a_path_is_refused(repo):
    with pytest.raises(WorkspaceError, match="not the id of a session"):
        await make_tree(repo, session=SessionId("../../etc"))


async def test_called_again_it_gives_the_same_tree_and_leaves_the_work_in_it(repo):
    spoil(repo)
    first = await make_tree(repo)
    path = at(first.workspace)
    (path / "a.txt").write_text("the agent's work\n")
    (path / "run.sh").unlink()
    commit(repo, "the user went on")
    assert await make_tree(repo) == first
    assert (path / "a.txt").read_text() == "the agent's work\n"
    assert not (path / "run.sh").exists()


# --- verifying ------------------------------------------------------------------------------------


async def test_a_tree_whose_folder_became_a_link_is_not_believed(repo):
    workspace = (await make_tree(repo)).workspace
    shutil.rmtree(workspace.path)
    at(workspace).symlink_to(repo)
    with pytest.raises(Misled):
        locate(workspace)


async def test_a_tree_that_leads_to_another_entry_is_not_believed(repo):
    mine = (await make_tree(repo, session=S)).workspace
    other = (await make_tree(repo, session=T)).workspace
    shutil.copy(at(other) / ".git", at(mine) / ".git")
    with pytest.raises(Misled):
        locate(mine)


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
