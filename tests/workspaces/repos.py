"""Real repositories for tests, made with the git of the machine, and ways to look at them."""

import os
import subprocess
from pathlib import Path

from holdfast.core.ids import SessionId
from holdfast.core.truth import Workspace
from holdfast.workspaces.worktree import Created, create, find_repo

S = SessionId("3fa90c11d2e4")
T = SessionId("3fa9ffffffff")  # begins with the same four digits

CLEAN_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.com",
    "LC_ALL": "C",
}


def git(where: Path, *args: str, check: bool = True, stdin: str | None = None) -> str:
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *args],
        cwd=where,
        env=CLEAN_ENV,
        capture_output=True,
        check=False,
        input=None if stdin is None else stdin.encode(),
    )
    if check and done.returncode:
        raise AssertionError(f"git {args}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def commit(where: Path, message: str = "more") -> str:
    git(where, "add", "-A")
    git(where, "commit", "-q", "--allow-empty", "-m", message)
    return git(where, "rev-parse", "HEAD")


def make_repo(folder: Path) -> Path:
    """Two files in two folders, one commit, on main."""
    repo = folder.resolve() / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    (repo / "a.txt").write_text("one\ntwo\nthree\n")
    (repo / "lib").mkdir()
    (repo / "lib/b.py").write_text("print('b')\n")
    (repo / "run.sh").write_text("#!/bin/sh\n")
    (repo / "run.sh").chmod(0o755)
    (repo / ".gitignore").write_text("*.log\n")
    commit(repo, "first")
    return repo


async def make_tree(repo: Path, *, session: SessionId = S, title: str = "Fix it") -> Created:
    found = await find_repo(repo)
    return await create(found, state=repo.parent / "state", session=session, title=title)


def at(workspace: Workspace) -> Path:
    return Path(workspace.path)


def content(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Every file, mode and link of a tree, without what is git's."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] == ".git":
            continue
        if path.is_symlink():
            found[str(name)] = ("link", os.fsencode(path.readlink()))
        elif path.is_file():
            mode = "exec" if path.stat().st_mode & 0o100 else "file"
            found[str(name)] = (mode, path.read_bytes())
    return found


def state(repo: Path) -> dict[str, object]:
    """Everything of the user's that we must not have touched: files, index, refs, status."""
    index = repo / ".git/index"
    return {
        "files": content(repo),
        "index": index.read_bytes() if index.is_file() else b"",
        "branches": git(repo, "for-each-ref", "refs/heads", "refs/tags"),
        "head": (repo / ".git/HEAD").read_text(),
        "config": (repo / ".git/config").read_text(),
        "stash": git(repo, "stash", "list"),
    }


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
