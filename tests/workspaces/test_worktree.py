"""A work tree for a session: made from HEAD, without touching the user's."""

# spec: H2 P10

import shutil

import pytest

from holdfast.core.ids import SessionId
from holdfast.workspaces.errors import (
    Misled,
    NoCommitYet,
    NotARepository,
    WorkspaceError,
)
from holdfast.workspaces.place import locate
from holdfast.workspaces.worktree import claim_folder, create, find_repo, in_place, slug
from tests.workspaces.repos import (
    S,
    T,
    at,
    commit,
    content,
    git,
    make_repo,
    make_tree,
    spoil,
    state,
)


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path)


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
