"""What a session changed, as git says it (SPEC H4). Only looks: nothing is kept.

Rule 1: everything since the base counts: commits, uncommitted and untracked files, renames, binaries.
Rule 2: what was cut off or left out is said.
"""

import asyncio
from enum import StrEnum
from pathlib import Path

from holdfast.core.truth import Workspace
from holdfast.core.value import Value, replace
from holdfast.views.changes import FileChange
from holdfast.workspaces.errors import WorkspaceError
from holdfast.workspaces.git import PLAIN, Git, Output, as_text
from holdfast.workspaces.place import locate, nowhere
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.tree import capture

DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--full-index")
CAP = 16 << 20
UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard")


class Form(StrEnum):
    PATCH = "--patch"
    BINARY = "--binary"  # a patch that can be applied, binary files too
    STAT = "--stat=120"
    NAMES = ""  # the files alone


class Diff(Value):
    raw: bytes  # the patch, or the table of `--stat`
    base: str
    files: tuple[FileChange, ...] = ()
    left_out: tuple[str, ...] = ()  # too large or unreadable: changed, perhaps, and not shown
    cut: bool = False  # the text is not all of it: never to be applied

    @property
    def text(self) -> str:
        return as_text(self.raw)


async def diff(
    workspace: Workspace,
    *,
    form: Form = Form.PATCH,
    base: str | None = None,
    path: str | None = None,
    cap: int = CAP,
    by: Git = PLAIN,
) -> Diff:
    """Against the commit the session started from, unless `base` says otherwise. `path`: of that
    file alone, by the name it has now."""
    async with shadow(locate(workspace), by=by, scratch=True) as git:
        start = await git.commit_at(base or workspace.base or "HEAD")
        if not start:
            raise WorkspaceError(f"There is no commit {base or workspace.base}.")
        untracked = await _untracked(git)
        captured = await capture(git)
        marked, counted = await asyncio.gather(
            _names(git, "--name-status", start, captured.tree),
            _names(git, "--numstat", start, captured.tree),
        )
        files = _files(marked, counted, untracked)
        if path is not None:
            files = tuple(file for file in files if file.name == path)
            if not files:
                raise WorkspaceError(f"The session did not change {path!r}.")
        only = [n for file in files for n in (file.before, file.name) if n] if path else []
        shown = Output(code=0, out=b"", err="")
        if form:
            args = (*DIFF, form, start, captured.tree, "--", *only)
            shown = await git.git(*args, cap=cap, cut=True)
    return Diff(raw=shown.out, base=start, files=files, left_out=captured.left_out, cut=shown.cut)


async def saved_diff(workspace: Workspace, end: str, *, cap: int, by: Git = PLAIN) -> Diff:
    """From the base to a commit, by the repository alone: the tree need not be there."""
    async with shadow(nowhere(Path(workspace.repo)), by=by) as git:
        start = await git.commit_at(workspace.base)
        if not start:
            raise WorkspaceError(f"There is no commit {workspace.base}.")
        shown = await git.git(*DIFF, Form.PATCH, start, end, "--", cap=cap, cut=True)
    return Diff(raw=shown.out, base=start, cut=shown.cut)


async def _untracked(git: Shadow) -> set[str]:
    """Before the tree is captured: after that the index knows them all."""
    if not git.index.exists():
        return set()
    return {as_text(name) for name in (await git.git(*UNTRACKED)).names}


def _files(
    marked: list[bytes], counted: list[bytes], untracked: set[str]
) -> tuple[FileChange, ...]:
    marks, counts = iter(map(as_text, marked)), iter(map(as_text, counted))
    found = []
    for mark in marks:
        before = next(marks) if mark[0] in "RC" else ""
        file = FileChange(name=next(marks), mark=mark[0], before=before)
        added, removed, shown = next(counts).split("\t", 2)
        if not shown:  # a rename: its two names follow
            next(counts)
            next(counts)
        if added.isdigit() and removed.isdigit():
            file = replace(file, added=int(added), removed=int(removed))
        if file.mark == "A" and file.name in untracked:
            file = replace(file, untracked=True)
        found.append(file)
    return tuple(found)


async def _names(git: Shadow, form: str, start: str, end: str) -> list[bytes]:
    return (await git.git(*DIFF, form, "-z", start, end, "--")).names
