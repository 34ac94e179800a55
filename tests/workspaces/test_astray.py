"""Trees that lead elsewhere, and surroundings that would have a say: not followed, not heard."""

# spec: H3

import os
import shutil

import pytest

from holdfast.core.truth import NoTruth, Truth
from holdfast.workspaces.apply import apply
from holdfast.workspaces.changes import diff
from holdfast.workspaces.errors import Misled, NotARepository, WouldLose
from holdfast.workspaces.mending import remove
from holdfast.workspaces.snapshots import restore, take
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import create, find_repo, in_place
from tests.workspaces.everything import everything_in_a_tree, everything_in_place
from tests.workspaces.repos import S, at, commit, content, git, make_repo, make_tree
from tests.workspaces.traps import Trap


async def test_a_git_file_replaced_by_a_repository_is_not_followed(tmp_path):
    trap = Trap(tmp_path)
    workspace = (await make_tree(trap.repo)).workspace
    path = at(workspace)
    (path / ".git").unlink()
    git(path, "init", "-q")
    git(path, "config", "core.fsmonitor", str(trap.evil))
    commit(path, "an attacker's")
    trap.marker.unlink(missing_ok=True)
    truth = await read_truth(workspace)
    assert isinstance(truth, NoTruth) and "leads to the repository" in truth.error
    for operation in (take(workspace, S, 9), diff(workspace), apply(workspace)):
        with pytest.raises(Misled):
            await operation
    with pytest.raises(WouldLose):
        await remove(workspace)
    assert not trap.sprung()


@pytest.mark.parametrize("how", ["file", "link", "entry"])
async def test_a_git_file_that_points_to_another_repository_is_not_followed(tmp_path, how):
    trap = Trap(tmp_path)
    workspace = (await make_tree(trap.repo)).workspace
    other = tmp_path.resolve() / "other"
    other.mkdir()
    hostile = make_repo(other)
    git(hostile, "config", "core.fsmonitor", str(trap.evil))
    pointer = at(workspace) / ".git"
    match how:
        case "file":
            pointer.write_text(f"gitdir: {hostile}/.git\n")
        case "link":
            pointer.unlink()
            pointer.symlink_to(hostile / ".git")
        case "entry":
            (trap.repo / ".git/worktrees" / S / "commondir").write_text(f"{hostile}/.git\n")
    truth = await read_truth(workspace)
    assert isinstance(truth, NoTruth) and not truth.missing
    with pytest.raises(Misled):
        await take(workspace, S, 9)
    assert not trap.sprung()


async def test_core_worktree_leads_nowhere(tmp_path):
    trap = Trap(tmp_path)
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret.txt").write_text("secret\n")
    trap.config("core.worktree", str(private))
    found = await find_repo(trap.repo)
    assert found.top == trap.repo
    made = await create(found, state=tmp_path / "s", session=S, title="x", with_changes=True)
    assert "secret.txt" not in content(at(made.workspace))
    first = await take(await in_place(trap.repo), S, 1)
    await restore(await in_place(trap.repo), S, first.number)
    assert (private / "secret.txt").exists()


async def test_pipes_in_the_repository_do_not_make_us_wait(tmp_path):
    trap = Trap(tmp_path)
    for name in ("index", "config", "info/exclude", "info/attributes"):
        path = trap.repo / ".git" / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    assert isinstance(await read_truth(await in_place(trap.repo)), Truth)
    (trap.repo / ".git/HEAD").unlink()
    os.mkfifo(trap.repo / ".git/HEAD")
    with pytest.raises(NotARepository):
        await in_place(trap.repo)


async def test_a_link_in_the_tree_is_not_written_through(tmp_path):
    trap = Trap(tmp_path)
    workspace = await in_place(trap.repo)
    await take(workspace, S, 1)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.py").write_text("not yours\n")
    shutil.rmtree(trap.repo / "lib")
    (trap.repo / "lib").symlink_to(outside)
    before = await restore(workspace, S, 1)
    assert (outside / "b.py").read_text() == "not yours\n"
    assert (trap.repo / "lib/b.py").read_text() == "print('b')\n"
    await restore(workspace, S, before.number)
    assert (trap.repo / "lib").is_symlink()
    assert (outside / "b.py").read_text() == "not yours\n"


async def test_a_replaced_object_does_not_change_what_is_seen(tmp_path):
    trap = Trap(tmp_path)
    workspace = await in_place(trap.repo)
    blob = git(trap.repo, "rev-parse", "HEAD:a.txt")
    lie = git(trap.repo, "hash-object", "-w", "--stdin", stdin="a lie\n")
    git(trap.repo, "replace", blob, lie)
    (trap.repo / "a.txt").write_text("one\n")
    assert "-two" in (await diff(workspace)).text


async def test_our_own_environment_does_not_reach_git(tmp_path, monkeypatch):
    trap = Trap(tmp_path)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap.evil))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.evil))
    await everything_in_place(trap.repo)
    await everything_in_a_tree(trap.repo)
    assert not trap.sprung()


async def test_the_persons_own_settings_are_read_as_data_only(tmp_path, monkeypatch):
    trap = Trap(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[user]\n\tname = "Ann \\"A\\" Other"\n\temail = ann@example.com\n'
        f'[core]\n\tfsmonitor = "{trap.evil}"\n\texcludesFile = ~/ignore\n'
        f'[diff]\n\texternal = "{trap.evil}"\n'
    )
    (home / "ignore").write_text("*.swp\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (trap.repo / "x.swp").write_text("x")
    workspace = await in_place(trap.repo)
    assert (await read_truth(workspace)).untracked == ()
    await everything_in_place(trap.repo)
    await everything_in_a_tree(trap.repo)
    assert git(trap.repo, "log", "-1", "--format=%an", "target") == 'Ann "A" Other'
    assert not trap.sprung()
