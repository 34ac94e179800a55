"""What a session changed, as people read it (SPEC H4). Only looks: nothing is kept.

Rule 1: everything since the base counts: commits, uncommitted and untracked files, renames, binaries.
Rule 2: what was cut off or left out is said.
"""

from holdfast.core.truth import Workspace
from holdfast.core.value import Value
from holdfast.workspaces.errors import WorkspaceError
from holdfast.workspaces.git import PLAIN, Git, as_text
from holdfast.workspaces.place import locate
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.tree import capture

DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--full-index")
CAP = 16 << 20


class FileChange(Value):
    name: str
    mark: str  # A, D, M, T, R
    before: str = ""  # the name it had, if it was renamed
    added: int | None = None  # lines; None: a binary file
    removed: int | None = None


class Diff(Value):
    text: str  # the patch, or the table of `--stat`
    files: tuple[FileChange, ...] = ()
    left_out: tuple[str, ...] = ()  # too large or unreadable: changed, perhaps, and not shown
    cut: bool = False  # the text is not all of it: never to be applied


async def diff(
    workspace: Workspace, *, stat: bool = False, base: str | None = None, by: Git = PLAIN
) -> Diff:
    """Against the commit the session started from, unless `base` says otherwise."""
    async with shadow(locate(workspace), by=by, scratch=True) as git:
        start = await git.commit_at(base or workspace.base or "HEAD")
        if not start:
            raise WorkspaceError(f"There is no commit {base or workspace.base}.")
        captured = await capture(git)
        form = ("--stat=120",) if stat else ("--patch",)
        shown = await git.git(*DIFF, *form, start, captured.tree, "--", cap=CAP, cut=True)
        files = await _files(git, start, captured.tree)
    return Diff(text=shown.text, files=files, left_out=captured.left_out, cut=shown.cut)


async def _files(git: Shadow, start: str, end: str) -> tuple[FileChange, ...]:
    marks = iter(as_text(f) for f in (await _raw(git, "--name-status", start, end)))
    counts = iter(as_text(f) for f in (await _raw(git, "--numstat", start, end)))
    found = []
    for mark in marks:
        before = next(marks) if mark[0] in "RC" else ""
        name = next(marks)
        added, removed, shown = next(counts).split("\t", 2)
        if not shown:  # a rename: its two names follow
            next(counts)
            next(counts)
        found.append(
            FileChange(
                name=name,
                mark=mark[0],
                before=before,
                added=int(added) if added.isdigit() else None,
                removed=int(removed) if removed.isdigit() else None,
            )
        )
    return tuple(found)


async def _raw(git: Shadow, form: str, start: str, end: str) -> list[bytes]:
    return (await git.git(*DIFF, form, "-z", start, end, "--")).names
