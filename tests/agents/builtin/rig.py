"""A work tree, a repository and a context for tools: all real."""

import contextlib
import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from holdfast.agents.builtin.files import Tree
from holdfast.agents.builtin.tools import answer, registry
from holdfast.agents.builtin.tools_kind import Context
from holdfast.runtimes.local import LocalRuntime

NAMED = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Said(NamedTuple):
    text: str
    failed: bool


def git(folder, *words, check=True):
    return subprocess.run(
        ["git", "-C", str(folder), *words],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **NAMED},
        capture_output=True,
        text=True,
        check=check,
    ).stdout


class RealGit:
    """As plain as git can be called; the product's own is another module's."""

    def __init__(self, folder):
        self.folder = folder

    def _say(self, *words):
        done = subprocess.run(
            ["git", "-C", str(self.folder), *words],
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **NAMED},
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(done.stdout + done.stderr, done.returncode != 0)

    async def status(self):
        return self._say("status", "--short")

    async def diff(self, path):
        return self._say("diff", "HEAD", *(["--", path] if path else []))

    async def commit(self, message, paths):
        self._say("add", "--all", "--", *(paths or ["."]))
        return self._say("commit", "--quiet", "-m", message, *(["--", *paths] if paths else []))

    async def head_message(self):
        said = self._say("log", "-1", "--format=%B")
        return None if said.failed else said.text

    async def dirty(self, paths):
        said = self._say("status", "--porcelain", "--", *paths)
        return None if said.failed else tuple(said.text.splitlines())


def repository(folder, files=None):
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, text in (files or {"a.txt": "one\n"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


@contextlib.contextmanager
def context(folder, *, sandbox=None, real_git=None, runtime=None, whole_paths=None):
    with Tree(Path(folder), whole_paths=whole_paths) as tree:
        yield Context(
            tree=tree,
            git=real_git,
            runtime=runtime or LocalRuntime("test:1"),
            sandbox=sandbox,
            env=NAMED,
        )


async def use(ctx, name, /, **arguments):
    return await answer(registry(), name, json.dumps(arguments), ctx)
