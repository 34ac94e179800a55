"""Seeing the work, and bringing it into the user's branch."""

# spec: H4

from pathlib import Path

import pytest

from holdfast.workspaces.apply import apply
from holdfast.workspaces.changes import Form, diff
from holdfast.workspaces.errors import CannotApply
from holdfast.workspaces.git import Git
from holdfast.workspaces.worktree import in_place
from tests.workspaces.repos import commit, content, git, make_repo, make_tree, state


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path)


async def worked(repo: Path):
    """A session that committed once and left something uncommitted."""
    workspace = (await make_tree(repo)).workspace
    path = Path(workspace.path)
    (path / "a.txt").write_text("one\nTWO\nthree\n")
    commit(path, "the agent's commit")
    git(path, "mv", "lib/b.py", "lib/renamed.py")
    (path / "new.txt").write_text("untracked\n")
    (path / "image.png").write_bytes(b"\x89PNG\0\0")
    (path / "skip.log").write_text("ignored\n")
    return workspace


def both(repo: Path, workspace) -> tuple[object, ...]:
    path = Path(workspace.path)
    index = Path(workspace.repo) / "worktrees" / path.name / "index"
    return state(repo), content(path), index.read_bytes(), git(path, "rev-parse", "HEAD")


# --- seeing it ------------------------------------------------------------------------------------


async def test_the_diff_has_commits_and_uncommitted_untracked_renamed_and_binary_files(repo):
    workspace = await worked(repo)
    before = both(repo, workspace)
    objects = git(repo, "count-objects")
    shown = await diff(workspace)
    assert {(f.mark, f.before, f.name, f.added, f.removed) for f in shown.files} == {
        ("M", "", "a.txt", 1, 1),
        ("A", "", "image.png", None, None),
        ("R", "lib/b.py", "lib/renamed.py", 0, 0),
        ("A", "", "new.txt", 1, 0),
    }
    assert "+TWO" in shown.text and "+untracked" in shown.text and "rename to" in shown.text
    assert "Binary files" in shown.text and "ignored" not in shown.text
    assert both(repo, workspace) == before
    assert git(repo, "count-objects") == objects


async def test_the_diff_can_be_a_table_or_against_another_commit(repo):
    workspace = await worked(repo)
    shown = await diff(workspace, form=Form.STAT)
    assert shown.text.splitlines()[-1] == " 4 files changed, 2 insertions(+), 1 deletion(-)"
    since = await diff(workspace, base="HEAD")
    assert "a.txt" not in {f.name for f in since.files}


async def test_a_diff_that_is_too_long_is_cut_and_says_so(repo):
    workspace = await worked(repo)
    shown = await diff(workspace, cap=100)
    assert shown.cut and len(shown.text) == 100


# --- bringing it over -----------------------------------------------------------------------------


async def test_the_work_arrives_in_the_branch_and_in_the_files(repo):
    workspace = await worked(repo)
    before = content(Path(workspace.path))
    done = await apply(workspace)
    assert (done.branch, done.tree) == ("main", str(repo))
    assert git(repo, "rev-parse", "main") == done.commit
    assert git(repo, "status", "--porcelain") == ""
    assert content(repo) == {k: v for k, v in before.items() if k != "skip.log"}
    assert git(repo, "log", "--format=%s", "main").splitlines()[1:] == [
        "the agent's commit",
        "first",
    ]
    assert content(Path(workspace.path)) == before
    assert "holdfast: apply" in git(repo, "reflog")


async def test_squashed_it_is_one_commit(repo):
    workspace = await worked(repo)
    await apply(workspace, squash=True, message="All of it")
    assert git(repo, "log", "--format=%s").splitlines() == ["All of it", "first"]
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize("squash", [True, False])
async def test_a_branch_that_moved_on_is_merged(repo, squash):
    workspace = await worked(repo)
    (repo / "theirs.txt").write_text("meanwhile\n")
    commit(repo, "meanwhile")
    done = await apply(workspace, squash=squash)
    assert git(repo, "status", "--porcelain") == ""
    assert (repo / "theirs.txt").exists() and (repo / "new.txt").exists()
    parents = git(repo, "log", "-1", "--format=%P", done.commit).split()
    assert len(parents) == (1 if squash else 2)


async def test_a_branch_that_is_checked_out_nowhere_moves_alone(repo):
    git(repo, "branch", "release")
    workspace = await worked(repo)
    before = state(repo)
    done = await apply(workspace, to="release")
    assert done.tree == ""
    assert git(repo, "rev-parse", "release") == done.commit
    after = state(repo)
    before["branches"] = after["branches"]
    assert after == before


async def test_a_branch_that_is_checked_out_in_another_tree_moves_with_its_files(repo, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "release")
    workspace = await worked(repo)
    done = await apply(workspace, to="release")
    assert done.tree == str(tmp_path / "other")
    assert git(tmp_path / "other", "status", "--porcelain") == ""
    assert (tmp_path / "other/new.txt").exists()
    assert not (repo / "new.txt").exists()


async def test_applied_twice_it_is_there_once(repo):
    workspace = await worked(repo)
    first = await apply(workspace)
    again = await apply(workspace)
    assert not again.moved and again.commit == first.commit
    (Path(workspace.path) / "new.txt").write_text("and more\n")
    assert (await apply(workspace)).moved
    assert (repo / "new.txt").read_text() == "and more\n"


@pytest.mark.parametrize("squash", [True, False])
async def test_work_that_goes_on_is_brought_over_again_and_again(repo, squash):
    workspace = await worked(repo)
    path = Path(workspace.path)
    for n in range(4):
        (path / "new.txt").write_text(f"state {n}\n")
        (path / "a.txt").write_text(f"one\nTWO {n}\nthree\n")
        if n == 2:
            commit(path, "the agent committed again")
        if n == 3:
            (repo / "theirs.txt").write_text("meanwhile\n")
            commit(repo, "meanwhile")
        assert (await apply(workspace, squash=squash)).moved
        assert not (await apply(workspace, squash=squash)).moved, n
        assert (repo / "new.txt").read_text() == f"state {n}\n"
        assert git(repo, "status", "--porcelain") == ""
    assert (repo / "theirs.txt").exists()


async def test_work_that_was_taken_back_can_be_brought_over_again(repo):
    workspace = await worked(repo)
    first = await apply(workspace, squash=True)
    git(repo, "reset", "-q", "--hard", first.before)
    assert (await apply(workspace, squash=True)).moved
    assert (repo / "new.txt").exists()


async def test_it_is_the_persons_commit_where_they_said_who_they_are(repo):
    git(repo, "config", "user.name", "Ann Other")
    git(repo, "config", "user.email", "other@example.com")
    workspace = await worked(repo)
    await apply(workspace)
    assert git(repo, "log", "-1", "--format=%an <%ae>") == "Ann Other <other@example.com>"


# --- refusing, both sides intact ------------------------------------------------------------------


def dirty_edit(repo):
    (repo / "lib/b.py").write_text("mine\n")


def dirty_stage(repo):
    (repo / "mine.txt").write_text("mine\n")
    git(repo, "add", "mine.txt")


def dirty_delete(repo):
    (repo / "run.sh").unlink()


def conflict(repo):
    (repo / "a.txt").write_text("one\nzwei\nthree\n")
    commit(repo, "the other way")


def untracked_in_the_way(repo):
    (repo / "new.txt").write_text("the user's own\n")


def merge_under_way(repo):
    (repo / ".git/MERGE_HEAD").write_text(git(repo, "rev-parse", "HEAD") + "\n")


def index_locked(repo):
    (repo / ".git/index.lock").write_text("")


def branch_locked(repo):
    (repo / ".git/refs/heads/main.lock").write_text("")


@pytest.mark.parametrize(
    "obstacle",
    [
        dirty_edit,
        dirty_stage,
        dirty_delete,
        conflict,
        untracked_in_the_way,
        merge_under_way,
        index_locked,
        branch_locked,
    ],
)
@pytest.mark.parametrize("squash", [True, False])
async def test_an_obstacle_leaves_both_sides_as_they_were(repo, obstacle, squash):
    workspace = await worked(repo)
    obstacle(repo)
    before = both(repo, workspace)
    with pytest.raises(CannotApply) as refused:
        await apply(workspace, squash=squash)
    after = both(repo, workspace)
    if obstacle is branch_locked:  # files went and came back: the index has other times
        assert git(repo, "status", "--porcelain") == ""
        before[0]["index"] = after[0]["index"]
    assert after == before
    assert str(refused.value)


async def test_a_conflict_names_the_files(repo):
    workspace = await worked(repo)
    conflict(repo)
    with pytest.raises(CannotApply) as refused:
        await apply(workspace)
    assert refused.value.names == ("a.txt",)


async def test_unrelated_untracked_files_do_not_stand_in_the_way(repo):
    workspace = await worked(repo)
    (repo / "notes.txt").write_text("mine\n")
    await apply(workspace)
    assert git(repo, "status", "--porcelain") == "?? notes.txt"


@pytest.mark.parametrize("to", ["nowhere", "--all", "../x", "a b", "main~1", "@{-1}", ""])
async def test_a_branch_that_is_none_is_refused(repo, to):
    workspace = await worked(repo)
    if not to:
        git(repo, "checkout", "-q", "--detach")
    with pytest.raises(CannotApply):
        await apply(workspace, to=to or None)


async def test_in_place_there_is_nothing_to_bring_over(repo):
    (repo / "a.txt").write_text("edited\n")
    with pytest.raises(CannotApply, match="already"):
        await apply(await in_place(repo))


async def test_a_repository_inside_cannot_be_brought_over_and_is_named(repo):
    workspace = await worked(repo)
    git(Path(workspace.path), "init", "-q", "inner")
    with pytest.raises(CannotApply) as refused:
        await apply(workspace)
    assert refused.value.names == ("inner/",)


class Unplugged(BaseException):
    pass


@pytest.mark.slow
async def test_unplugged_at_any_git_command_it_is_finished_or_undone_by_applying_again(tmp_path):
    for n in range(1, 200):
        folder = tmp_path / str(n)
        folder.mkdir()
        repo = make_repo(folder)
        workspace = await worked(repo)
        left = [n]

        def boundary(_name, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise Unplugged

        try:
            await apply(workspace, by=Git(boundary=boundary))
        except Unplugged:
            assert content(Path(workspace.path))["new.txt"] == ("file", b"untracked\n")
            await apply(workspace)
            assert git(repo, "status", "--porcelain") == ""
            assert (repo / "new.txt").read_text() == "untracked\n"
        else:
            assert n > 20
            return
    raise AssertionError("it never ended")
