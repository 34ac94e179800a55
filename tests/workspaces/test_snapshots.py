"""Uncommitted work under hidden refs, and the way back."""

# spec: D8 P10

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.workspaces.errors import NoSnapshot, WouldLose
from holdfast.workspaces.snapshots import listed, restore, take
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import in_place
from tests.workspaces.repos import S, commit, content, git, make_repo, make_tree, state


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path)


def edit(path: Path) -> None:
    (path / "a.txt").write_text("edited\n")
    (path / "lib/b.py").unlink()
    (path / "run.sh").chmod(0o644)
    (path / "deep/er").mkdir(parents=True)
    (path / "deep/er/new").write_bytes(b"\0binary")
    (path / "link").symlink_to("nowhere at all")
    (path / "-rf").write_text("a dash")
    (path / "line\nbreak").write_text("a newline")


async def test_the_users_index_branches_and_files_are_untouched(repo):
    workspace = await in_place(repo)
    edit(repo)
    git(repo, "add", "-A", "deep")
    before = state(repo)
    taken = await take(workspace, S, 1, round=3)
    assert state(repo) == before
    assert git(repo, "rev-parse", f"refs/holdfast/{S}/1") == taken.commit
    assert git(repo, "rev-parse", f"{taken.commit}^") == workspace.base


async def test_untracked_is_in_ignored_is_out(repo):
    workspace = await in_place(repo)
    (repo / "new.txt").write_text("x")
    (repo / "skip.log").write_text("x")
    taken = await take(workspace, S, 1)
    names = git(repo, "ls-tree", "-r", "--name-only", taken.commit).splitlines()
    assert "new.txt" in names and "skip.log" not in names


async def test_what_is_too_large_or_cannot_be_read_is_left_out_and_named(repo):
    workspace = await in_place(repo)
    with (repo / "huge.bin").open("wb") as file:
        file.truncate((10 << 20) + 1)
    with (repo / "just.bin").open("wb") as file:
        file.truncate(10 << 20)
    git(repo, "init", "-q", "inner")
    (repo / "inner/file").write_text("x")
    os.mkfifo(repo / "pipe")
    (repo / "run.sh").unlink()
    os.mkfifo(repo / "run.sh")
    taken = await take(workspace, S, 1)
    assert sorted(taken.left_out) == ["huge.bin", "inner/", "run.sh"]
    names = git(repo, "ls-tree", "-r", "--name-only", taken.commit)
    assert "just.bin" in names and "huge.bin" not in names
    assert (await listed(workspace, S))[0].left_out == taken.left_out


async def test_nothing_changed_nothing_taken(repo):
    workspace = await in_place(repo)
    first = await take(workspace, S, 1)
    second = await take(workspace, S, 2)
    assert (first.changed, second.changed) == (True, False)
    assert second.number == 1
    os.utime(repo / "a.txt")
    assert not (await take(workspace, S, 2)).changed
    (repo / "a.txt").write_text("more\n")
    assert (await take(workspace, S, 2)).changed
    assert [s.number for s in await listed(workspace, S)] == [1, 2]


async def test_an_edit_in_the_same_moment_as_the_index_is_seen(repo):
    """Same size, same time: git's own trick is that the index is not older than the file."""
    workspace = await in_place(repo)
    git(repo, "config", "core.trustctime", "false")  # a time that no test can set
    moment = (repo / "a.txt").stat().st_mtime_ns
    (repo / ".git/index").unlink()
    git(repo, "add", "-A")
    os.utime(repo / ".git/index", ns=(moment, moment))
    before = await take(workspace, S, 1)
    (repo / "a.txt").write_text("ONE\ntwo\nthree\n")
    os.utime(repo / "a.txt", ns=(moment, moment))
    taken = await take(workspace, S, 2)
    assert taken.changed and taken.tree != before.tree
    assert (await read_truth(workspace)).dirty == (" M a.txt",)


async def test_a_commit_alone_is_kept_too(repo):
    workspace = await in_place(repo)
    (repo / "a.txt").write_text("more\n")
    await take(workspace, S, 1)
    head = commit(repo)
    taken = await take(workspace, S, 2)
    assert taken.changed and taken.head == head


async def test_one_taken_before_a_crash_is_told_and_not_overwritten(repo):
    workspace = await in_place(repo)
    (repo / "a.txt").write_text("one\n")
    first = await take(workspace, S, 1)
    assert await take(workspace, S, 1) == first
    (repo / "a.txt").write_text("two\n")
    later = await take(workspace, S, 1)
    assert later.number == 2
    assert git(repo, "rev-parse", f"refs/holdfast/{S}/1") == first.commit


@pytest.mark.parametrize("ours", [True, False])
async def test_the_tree_is_put_back_exactly(repo, ours):
    workspace = (await make_tree(repo)).workspace if ours else await in_place(repo)
    path = Path(workspace.path)
    original = content(path)
    first = await take(workspace, S, 1)  # of a tree we made: the one it began with
    edit(path)
    edited = content(path)
    await take(workspace, S, 2)
    (path / "a.txt").unlink()
    (path / "a.txt").mkdir()  # a folder where a file was
    (path / "a.txt/inner").write_text("x")
    (path / "run.sh").unlink()
    (path / "run.sh").symlink_to("link")
    messy = content(path)

    before = await restore(workspace, S, first.number)
    assert content(path) == original
    await restore(workspace, S, 2)
    assert content(path) == edited
    await restore(workspace, S, before.number)
    assert content(path) == messy


async def test_restoring_moves_neither_head_nor_index(repo):
    workspace = await in_place(repo)
    await take(workspace, S, 1)
    (repo / "a.txt").write_text("staged\n")
    head = commit(repo, "work")
    index = git(repo, "write-tree")
    await restore(workspace, S, 1)
    assert git(repo, "rev-parse", "HEAD") == head
    assert git(repo, "write-tree") == index
    assert (repo / "a.txt").read_text() == "one\ntwo\nthree\n"


async def test_ignored_and_left_out_files_stay_as_they_are(repo):
    workspace = await in_place(repo)
    await take(workspace, S, 1)
    (repo / "skip.log").write_text("ignored\n")
    with (repo / "huge.bin").open("wb") as file:
        file.truncate(11 << 20)
    (repo / "a.txt").write_text("edited\n")
    await restore(workspace, S, 1)
    assert (repo / "skip.log").exists() and (repo / "huge.bin").stat().st_size == 11 << 20


async def test_what_is_in_no_snapshot_is_not_overwritten(repo):
    workspace = await in_place(repo)
    (repo / "data.bin").write_bytes(b"small")
    await take(workspace, S, 1)
    (repo / "data.bin").unlink()
    await take(workspace, S, 2)
    (repo / "a.txt").write_text("edited\n")
    with (repo / "data.bin").open("wb") as file:
        file.truncate(11 << 20)
    with pytest.raises(WouldLose) as refused:
        await restore(workspace, S, 1)
    assert refused.value.names == ("data.bin",)
    assert (repo / "a.txt").read_text() == "edited\n"
    assert (repo / "data.bin").stat().st_size == 11 << 20


async def test_a_number_that_is_not_there_is_said(repo):
    with pytest.raises(NoSnapshot):
        await restore(await in_place(repo), S, 7)


async def test_a_message_that_is_not_ours_says_nothing(repo):
    workspace = await in_place(repo)
    git(repo, "update-ref", f"refs/holdfast/{S}/1", "HEAD")
    git(repo, "update-ref", f"refs/holdfast/{S}/x", "HEAD")
    assert [(s.number, s.round) for s in await listed(workspace, S)] == [(1, 0)]


async def test_a_merge_in_conflict_is_saved_as_it_stands(repo):
    git(repo, "checkout", "-q", "-b", "other")
    (repo / "a.txt").write_text("theirs\n")
    commit(repo)
    git(repo, "checkout", "-q", "main")
    (repo / "a.txt").write_text("ours\n")
    commit(repo)
    workspace = await in_place(repo)
    git(repo, "merge", "other", check=False)
    index = (repo / ".git/index").read_bytes()
    taken = await take(workspace, S, 1)
    assert "<<<<<<<" in git(repo, "show", f"{taken.commit}:a.txt")
    assert (repo / ".git/index").read_bytes() == index


NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/a", "-x", "ü", "d"])
FILES = st.dictionaries(
    NAMES, st.tuples(st.sampled_from(["file", "exec", "link"]), st.binary(max_size=3)), max_size=6
)


def lay(path: Path, files: dict[str, tuple[str, bytes]]) -> None:
    for name, (kind, body) in files.items():
        if any(other.startswith(f"{name}/") for other in files):
            continue
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            target.symlink_to("to" + body.hex())
        else:
            target.write_bytes(body)
            target.chmod(0o755 if kind == "exec" else 0o644)


def empty(path: Path) -> None:
    for found in sorted(path.rglob("*"), reverse=True):
        if ".git" not in found.relative_to(path).parts:
            found.rmdir() if found.is_dir() and not found.is_symlink() else found.unlink()


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(first=FILES, second=FILES)
def test_any_tree_comes_back_from_any_other(tmp_path_factory, first, second):
    async def story() -> None:
        repo = make_repo(tmp_path_factory.mktemp("any"))
        workspace = await in_place(repo)
        empty(repo)
        lay(repo, first)
        one = content(repo)
        await take(workspace, S, 1)
        empty(repo)
        lay(repo, second)
        two = content(repo)
        before = await restore(workspace, S, 1)
        assert content(repo) == one
        await restore(workspace, S, before.number)
        assert content(repo) == two

    asyncio.run(story())
