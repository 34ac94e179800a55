"""Every operation of ours on a work tree, one after another, as a hostile repository meets them."""

import shutil
from pathlib import Path

import pytest

from holdfast.core.truth import Truth
from holdfast.workspaces.apply import apply
from holdfast.workspaces.changes import Form, diff
from holdfast.workspaces.errors import WouldLose
from holdfast.workspaces.mending import rebuild, remove
from holdfast.workspaces.snapshots import listed, ref_of, restore, take
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import create, find_repo, in_place
from tests.workspaces.repos import S, at, git


async def everything_in_place(repo: Path) -> None:
    workspace = await in_place(repo)
    assert isinstance(await read_truth(workspace), Truth)
    await diff(workspace)
    first = await take(workspace, S, 1)
    (repo / "a.txt").write_text("the agent was here\n")
    await take(workspace, S, 2)
    await restore(workspace, S, first.number)
    git(repo, "-c", "core.hooksPath=/dev/null", "update-ref", "-d", ref_of(S, 1))


async def everything_in_a_tree(repo: Path) -> None:
    found = await find_repo(repo)
    made = await create(found, state=repo.parent / "state", session=S, title="x", with_changes=True)
    workspace = made.workspace
    path = at(workspace)
    (path / "work.txt").write_text("work\n")
    (path / "a.txt").write_text("the agent's\n")
    truth = await read_truth(workspace)
    assert isinstance(truth, Truth) and "work.txt" in truth.untracked
    assert "work.txt" in (await diff(workspace)).text
    assert "work.txt" in (await diff(workspace, form=Form.STAT)).text
    await take(workspace, S, 1)
    shutil.rmtree(path)
    await rebuild(workspace, ref_of(S, (await listed(workspace_of(repo, workspace), S))[-1].number))
    assert (path / "work.txt").exists()
    with pytest.raises(WouldLose):
        await remove(workspace)
    _target(repo, workspace.base)
    await apply(workspace, to="target")
    await apply(workspace, to="moved")
    await remove(workspace, force=True, delete_branch=True)


def workspace_of(repo: Path, workspace):
    """The user's own tree: snapshots can be listed from any tree of the repository."""
    return type(workspace)(path=str(repo), repo=workspace.repo)


def _target(repo: Path, base: str) -> None:
    """One branch at the base, one that has moved on, so that a merge is needed."""
    refs = repo / ".git/refs/heads"
    (refs / "target").write_text(f"{base}\n")
    hardened = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
    tree = git(repo, *hardened, "rev-parse", f"{base}^{{tree}}")
    extra = git(repo, *hardened, "hash-object", "-w", "--stdin", "--no-filters", stdin="more\n")
    listing = git(repo, *hardened, "ls-tree", tree) + f"\n100644 blob {extra}\tzz.txt\n"
    other = git(repo, *hardened, "mktree", stdin=listing)
    moved = git(repo, *hardened, "commit-tree", other, "-p", base, "-m", "moved on")
    (refs / "moved").write_text(f"{moved}\n")
