"""A small repository made from nothing, for `hold demo`."""

import asyncio
from pathlib import Path

from holdfast.workspaces.git import PLAIN, Git

NOBODY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Holdfast"), ("EMAIL", "holdfast@localhost"))
}


def _fill(path: Path, files: dict[str, str]) -> None:
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name).write_text(text)


async def make_repository(path: Path, files: dict[str, str], *, by: Git = PLAIN) -> None:
    """One commit on `main` with these files."""
    await asyncio.to_thread(_fill, path, files)
    await by.run("init", "--quiet", "--initial-branch=main", cwd=path)
    await by.run("add", "--all", cwd=path)
    await by.run("commit", "--quiet", "--message=A small project", cwd=path, env=NOBODY)
