"""Making a work tree, killed at every step: the next call finishes the same one."""

# spec: H2 D8 P10

import asyncio
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from holdfast.workspaces.errors import GitFailed
from holdfast.workspaces.git import Git, nowhere
from holdfast.workspaces.shadow import sweep
from holdfast.workspaces.snapshots import listed, restore, take
from holdfast.workspaces.worktree import create, find_repo, in_place
from tests.workspaces.repos import S, commit, content, git, make_repo, make_tree

STRACE = shutil.which("strace")


def killed_at(n: int):
    """A boundary at which this process dies, the n-th time it is reached."""
    left = [n]

    def boundary(_name: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return boundary


def in_a_child(story, boundary) -> int:
    """Runs it in a process of its own; gives back the signal that ended it, or 0."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            asyncio.run(story(boundary))
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


@pytest.mark.slow
@pytest.mark.parametrize("with_changes", [True, False])
def test_killed_at_any_git_command_the_next_call_makes_the_same_tree(tmp_path, with_changes):
    n = 0
    while True:
        n += 1
        folder = tmp_path / str(n)
        folder.mkdir()
        repo = make_repo(folder)
        (repo / "a.txt").write_text("the user's\n")
        (repo / "new.txt").write_text("untracked\n")
        wanted = content(repo)

        async def story(boundary, repo=repo):
            by = Git(boundary=boundary)
            found = await find_repo(repo)
            return await create(
                found,
                state=repo.parent / "state",
                session=S,
                title="Fix it",
                with_changes=with_changes,
                by=by,
            )

        ended = in_a_child(story, killed_at(n))
        made = asyncio.run(story(nowhere))
        path = Path(made.workspace.path)
        changes = [" M a.txt", "?? new.txt"] if with_changes else []
        assert git(path, "status", "--porcelain").splitlines() == changes
        assert made.left_behind == (0 if with_changes else 2)
        assert made.workspace.branch == "hold/fix-it-3fa9"
        assert git(repo, "branch", "--list", "hold/*").count("hold/") == 1
        assert len(list((repo / ".git/worktrees").iterdir())) == 1
        assert content(repo) == wanted
        git(repo, "fsck", "--strict")
        if not ended:
            assert n > 15
            return


class Unplugged(BaseException):
    pass


@pytest.mark.parametrize("step", ["entry", "folder", "pointer", "half the files"])
async def test_whatever_a_half_made_tree_looks_like_it_is_finished(tmp_path, step):
    repo = make_repo(tmp_path)

    def stop_before_files(name):
        if name == "read-tree:before":
            raise Unplugged

    found = await find_repo(repo)
    args = {"state": tmp_path / "state", "session": S, "title": "x"}
    with pytest.raises(Unplugged):
        await create(found, **args, by=Git(boundary=stop_before_files))
    path = (tmp_path / "state/worktrees").resolve() / S
    match step:
        case "entry":
            shutil.rmtree(repo / ".git/worktrees")
        case "folder":
            shutil.rmtree(path)
        case "pointer":
            (path / ".git").write_text("gitd")
        case "half the files":
            (path / "a.txt").write_text("one\ntw")
            (path / "lib").mkdir()
    made = await create(found, **args)
    assert git(path, "status", "--porcelain") == ""
    assert content(path) == content(repo)
    assert made.workspace.branch == "hold/x-3fa9"


@pytest.mark.parametrize("leftover", ["locked", "empty", "no head", "garbage"])
async def test_what_an_interrupted_git_left_under_our_name_is_cleared(tmp_path, leftover):
    repo = make_repo(tmp_path)
    path = tmp_path.resolve() / "state/worktrees" / S
    entry = repo / ".git/worktrees" / S
    entry.mkdir(parents=True)
    match leftover:
        case "locked":
            (entry / "locked").write_text("initializing")
            (entry / "gitdir").write_text(f"{path}/.git\n")
        case "no head":
            (entry / "gitdir").write_text(f"{path}/.git\n")
            (entry / "commondir").write_text("../..\n")
        case "garbage":
            (entry / "HEAD").write_bytes(b"\0\0\0")
    (repo / ".git" / f"holdfast-{S}").mkdir()
    made = await make_tree(repo)
    assert git(Path(made.workspace.path), "status", "--porcelain") == ""
    assert [e.name for e in (repo / ".git/worktrees").iterdir()] == [S]


async def test_somebody_elses_broken_entries_are_left_alone(tmp_path):
    repo = make_repo(tmp_path)
    for name in ("theirs", f"x{S}"):
        (repo / ".git/worktrees" / name).mkdir(parents=True)
        (repo / ".git/worktrees" / name / "locked").write_text("")
    await make_tree(repo)
    assert len(list((repo / ".git/worktrees").iterdir())) == 3


# --- git itself is killed -------------------------------------------------------------------------


def killing_git(folder: Path, syscall: str, n: int, command: str) -> Path:
    """A git that dies by kill -9 at the n-th such call of `command`, and works for all others."""
    script = folder / "git"
    real = shutil.which("git")
    script.write_text(
        "#!/bin/sh\n"
        f'for word; do if [ "$word" = {command} ]; then\n'
        f'  exec {STRACE} -f -o /dev/null -e inject={syscall}:signal=KILL:when={n} {real} "$@"\n'
        f'fi; done\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    return script


@pytest.mark.slow
@pytest.mark.skipif(STRACE is None, reason="missing: strace")
@pytest.mark.parametrize("syscall", ["openat", "write", "rename", "mkdir", "unlink"])
async def test_git_killed_while_it_writes_the_files_is_made_good(tmp_path, syscall):
    deaths = 0
    for n in (1, 2, 3, 5, 8, 13, 21, 34):
        folder = tmp_path / str(n)
        folder.mkdir()
        repo = make_repo(folder)
        found = await find_repo(repo)
        args = {"state": folder / "state", "session": S, "title": "x"}
        by = Git(program=str(killing_git(folder, syscall, n, "read-tree")))
        try:
            await create(found, **args, by=by)
        except GitFailed as error:
            assert "failed with code -9" in str(error) or "137" in str(error), error
            deaths += 1
        made = await create(found, **args)
        assert git(Path(made.workspace.path), "status", "--porcelain") == ""
        assert content(Path(made.workspace.path)) == content(repo)
    assert deaths or syscall in ("mkdir", "unlink", "rename")


@pytest.mark.slow
@pytest.mark.skipif(STRACE is None, reason="missing: strace")
async def test_gits_own_worktree_add_killed_at_our_place_is_made_good(tmp_path):
    for n in range(1, 60, 4):
        folder = tmp_path / str(n)
        folder.mkdir()
        repo = make_repo(folder)
        path = folder.resolve() / "state/worktrees" / S
        path.parent.mkdir(parents=True)
        fake = killing_git(folder, "openat,mkdir,rename", n, "worktree")
        added = await asyncio.create_subprocess_exec(
            str(fake),
            "-C",
            str(repo),
            "worktree",
            "add",
            "-q",
            str(path),
            "-b",
            "hold/x-3fa9",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await added.wait()
        if not path.exists() or any(p.name != ".git" for p in path.iterdir()):
            continue  # it had not begun, or the files were written: nobody's half-made tree
        found = await find_repo(repo)
        made = await create(found, state=folder / "state", session=S, title="x")
        assert git(Path(made.workspace.path), "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_restore_killed_at_any_command_is_finished_by_the_next(tmp_path):
    n = 0
    while True:
        n += 1
        folder = tmp_path / str(n)
        folder.mkdir()
        repo = make_repo(folder)
        workspace = asyncio.run(in_place(repo))
        asyncio.run(take(workspace, S, 1))
        original = content(repo)
        (repo / "a.txt").write_text("edited\n")
        (repo / "new.txt").write_text("not saved yet\n")
        edited = content(repo)

        async def story(boundary, workspace=workspace):
            await restore(workspace, S, 1, by=Git(boundary=boundary))

        ended = in_a_child(story, killed_at(n))
        asyncio.run(story(nowhere))
        assert content(repo) == original
        kept = asyncio.run(listed(workspace, S))
        asyncio.run(restore(workspace, S, kept[1].number))
        assert content(repo) == edited
        if not ended:
            assert n > 10
            return


def test_what_a_killed_process_leaves_is_swept_when_it_is_old(tmp_path):
    repo = make_repo(tmp_path)

    async def story(boundary):
        await find_repo(repo, by=Git(boundary=boundary))

    assert in_a_child(story, killed_at(3))
    (left,) = Path(tempfile.gettempdir()).iterdir()
    made_at = left.stat().st_mtime
    assert sweep(now=made_at + 3600) == 0
    assert sweep(now=made_at + 100_000) == 1
    assert (repo / ".git/objects").is_dir() and (repo / ".git/refs").is_dir()
    assert not left.exists()


async def test_a_stale_lock_of_the_users_index_does_not_stop_a_snapshot(tmp_path):
    repo = make_repo(tmp_path)
    workspace = await in_place(repo)
    (repo / ".git/index.lock").write_bytes(b"")
    (repo / "a.txt").write_text("edited\n")
    assert (await take(workspace, S, 1)).changed
    assert (repo / ".git/index.lock").exists()


async def test_a_lock_left_on_our_own_branch_is_named(tmp_path):
    repo = make_repo(tmp_path)
    lock = repo / ".git/refs/heads/hold/fix-it-3fa9.lock"
    lock.parent.mkdir()
    lock.write_bytes(b"")
    with pytest.raises(GitFailed, match=r"fix-it-3fa9\.lock"):
        await make_tree(repo)
    lock.unlink()
    assert (await make_tree(repo)).workspace.branch == "hold/fix-it-3fa9"
    commit(repo)
