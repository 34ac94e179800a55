"""A tree that is gone, made again through the port, killed at every git command on the way."""

# spec: D8 D9 G5 C2 P10

import asyncio
import shutil
from pathlib import Path

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.effects import ReturnWorkspace
from holdfast.core.session import Session
from holdfast.ports import Errand
from holdfast.testing.clock import FakeClock
from holdfast.workspaces.adapter import TRIES, GitWorkspaces
from holdfast.workspaces.git import Git, nowhere
from holdfast.workspaces.harvest import GitWork
from holdfast.workspaces.snapshots import take
from holdfast.workspaces.worktree import read_note
from tests.workspaces.repos import S, at, commit, content, git, make_repo, make_tree
from tests.workspaces.test_crash import in_a_child, killed_at


async def worked_in(folder: Path) -> Session:
    """A session with a commit, and uncommitted work that a snapshot has."""
    workspace = (await make_tree(make_repo(folder))).workspace
    (at(workspace) / "done.txt").write_text("committed\n")
    commit(at(workspace))
    (at(workspace) / "a.txt").write_text("changed\n")
    (at(workspace) / "fresh.txt").write_text("untracked\n")
    await take(workspace, S, 1, round=2)
    return Session(id=S, opened=True, workspace=workspace, workspace_lost=True)


async def bring_back(session: Session, boundary=nowhere, attempts: int = 0) -> list[object]:
    heard: list[object] = []

    async def submit(_id, given: i.Input) -> None:
        assert isinstance(given, i.Heard)
        heard.extend(given.events)

    port = GitWorkspaces(submit, FakeClock(), by=Git(boundary=boundary))
    errand = Errand(id="e", session=S, effect=ReturnWorkspace(), attempts=attempts)
    await port.bring_back(errand, session)
    return heard


def port() -> GitWorkspaces:
    async def nobody(_id, _given) -> None:
        raise AssertionError

    return GitWorkspaces(nobody, FakeClock())


@pytest.mark.slow
def test_killed_at_any_git_command_the_next_try_has_every_file_and_says_so(tmp_path):
    n = 0
    while True:
        n += 1
        folder = tmp_path / str(n)
        folder.mkdir()
        session = asyncio.run(worked_in(folder))
        tree = at(session.workspace)
        wanted, status = content(tree), git(tree, "status", "--porcelain")
        shutil.rmtree(tree)

        ended = in_a_child(lambda boundary, s=session: bring_back(s, boundary), killed_at(n))
        if ended and n % 2:  # a second kill, during the recovery
            in_a_child(lambda boundary, s=session: bring_back(s, boundary), killed_at(n // 2 + 1))
        heard = asyncio.run(bring_back(session))

        assert heard == [e.WorkspaceRebuilt(workspace=session.workspace, snapshot=1)]
        assert (content(tree), git(tree, "status", "--porcelain")) == (wanted, status)
        assert git(tree, "branch", "--show-current") == session.workspace.branch
        if not ended:
            assert n > 10
            return


async def test_half_a_tree_of_ours_counts_as_gone_and_is_finished(tmp_path):
    session = await worked_in(tmp_path)
    tree = at(session.workspace)
    wanted = content(tree)
    shutil.rmtree(tree)

    class Unplugged(BaseException):
        pass

    def stop(name: str) -> None:
        if name == "update-index:before":  # the files are there, the index is not
            raise Unplugged

    with pytest.raises(Unplugged):
        await bring_back(session, stop)
    (tree / "a.txt").unlink()
    found = await port().lost(session)
    assert tree.exists() and found is not None and not found.cannot

    await bring_back(session)
    assert content(tree) == wanted
    assert await port().lost(session) is None


async def test_one_that_is_whole_is_not_touched(tmp_path):
    """Somebody put it back, or made it and died before it was told."""
    session = await worked_in(tmp_path)
    (at(session.workspace) / "later.txt").write_text("work that no snapshot has\n")
    wanted = content(at(session.workspace))

    (told,) = await bring_back(session)

    assert isinstance(told, e.WorkspaceRebuilt)
    assert content(at(session.workspace)) == wanted


async def test_what_it_would_be_made_from_is_named_and_nothing_is_changed(tmp_path):
    session = await worked_in(tmp_path)
    repo, branch = tmp_path / "repo", session.workspace.branch
    shutil.rmtree(at(session.workspace))
    before = git(repo, "for-each-ref")
    tip = git(repo, "rev-parse", branch)

    found = await port().lost(session)

    assert found is not None
    assert found.source == f"the branch {branch} at {tip[:7]} and snapshot 1 of round 2"
    git(repo, "update-ref", "-d", f"refs/heads/{branch}")
    without = await port().lost(session)
    assert without is not None and without.source == found.source  # the snapshot remembers
    assert f"refs/heads/{branch}" not in git(repo, "for-each-ref")
    assert len(git(repo, "for-each-ref").splitlines()) == len(before.splitlines()) - 1


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("repo", "The repository "),
        ("refs", "Neither the branch hold/fix-it-3fa9 nor its first commit nor a snapshot is in "),
        ("taken", "The branch hold/fix-it-3fa9 is checked out in "),
    ],
)
async def test_what_stands_in_the_way_is_named(tmp_path, trouble, said):
    session = await worked_in(tmp_path)
    repo = tmp_path / "repo"
    shutil.rmtree(at(session.workspace))
    if trouble == "repo":
        shutil.rmtree(repo)
    elif trouble == "refs":
        shutil.rmtree(repo)
        repo.mkdir()
        git(repo, "init", "-q", "-b", "main")
    else:
        git(repo, "worktree", "prune")
        git(repo, "worktree", "add", "-q", str(tmp_path / "mine"), session.workspace.branch)

    found = await port().lost(session)

    assert found is not None and found.cannot.startswith(said), found
    with pytest.raises(Exception, match=r"."):
        await bring_back(session)
    (told,) = await bring_back(session, attempts=TRIES)
    assert isinstance(told, e.WorkspaceLost) and told.given_up and told.why.startswith(said)
    assert not at(session.workspace).exists()


async def test_an_empty_folder_is_as_good_as_none_and_any_other_is_left_alone(tmp_path):
    session = await worked_in(tmp_path)
    tree = at(session.workspace)
    shutil.rmtree(tree)
    tree.mkdir()
    assert await port().lost(session) is not None
    (tree / "theirs.txt").write_text("x")
    assert await port().lost(session) is None
    await bring_back(session)
    assert content(tree) == {"theirs.txt": ("file", b"x")}


async def test_the_saved_diff_is_there_only_while_the_tree_is_not(tmp_path):
    session = await worked_in(tmp_path)
    assert await GitWork().saved(session) is None
    shutil.rmtree(at(session.workspace))
    saved = await GitWork().saved(session)
    assert saved is not None
    for line in ("+changed", "+++ b/fresh.txt", "+committed"):
        assert line in saved
    shutil.rmtree(tmp_path / "repo")
    assert await GitWork().saved(session) is None


async def test_a_state_folder_that_is_gone_altogether_is_made_again_too(tmp_path):
    session = await worked_in(tmp_path)
    tree = at(session.workspace)
    wanted = content(tree)
    shutil.rmtree(tree.parent)
    assert read_note(tree) is None
    await bring_back(session)
    assert content(tree) == wanted
