"""Bringing a session's work into a branch of the user's (SPEC H4).

Rule 1: everything is worked out on objects first: what comes of it is known before a file or a ref
is touched. A conflict, a dirty tree, an operation in progress: both sides stay as they were.
Rule 2: the branch moves only from where it was when we looked.
Rule 3: if the branch is checked out somewhere, the files there go with it, or nothing does.
Rule 4: what was brought over is remembered (`refs/holdfast-applied/<session>/<branch>`), so that a
second time brings what came since, and does not conflict with the first. Half of it is finished.
"""

import re
from pathlib import Path

from holdfast.core.truth import Workspace
from holdfast.core.value import Value
from holdfast.workspaces.errors import CannotApply, GitError, GitFailed
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.place import Place, branch_of, checkouts, locate
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.tree import capture
from holdfast.workspaces.truth import dirty_lines

# While one of these is there, the tree is in the middle of something.
UNDER_WAY = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
)
CONFLICT = 1
DIFFERENT = ("diff", "--no-ext-diff", "--no-renames", "--name-only", "-z")


class Applied(Value):
    branch: str
    before: str
    commit: str
    tree: str  # the folder whose files were changed too; empty: the branch is checked out nowhere
    files: int = 0  # that are different there now

    @property
    def moved(self) -> bool:
        return self.commit != self.before


class _Result(Value):
    work: str
    commit: str
    tree: str


class _Memory(Value):
    """What was brought over last, and what came of it; empty: nothing, or it was taken back."""

    work: str = ""
    commit: str = ""


async def apply(
    workspace: Workspace,
    *,
    to: str | None = None,
    squash: bool = False,
    message: str = "",
    by: Git = PLAIN,
) -> Applied:
    place = locate(workspace)
    branch = to or _users_branch(place)
    if branch == branch_of(place.git_dir):
        raise CannotApply(f"The work is on {branch} already: there is nothing to bring over.")
    words = message or f"Work of Holdfast session {workspace.id}"
    target = _checked_out(place, branch)
    async with shadow(place, by=by) as git:
        before = await _standing(git, branch)
        memory = await _recalled(git, workspace, branch, before)
        work = await _work(git, memory, words)
        result = await _result(git, before, work, memory, squash=squash, words=words, branch=branch)
        if result.commit != before:
            if target is None:
                await _move_branch(git, branch, before, result.commit)
            else:
                await _move_tree(target, branch, before, result, by)
            await _remember(git, workspace, branch, result)
        changed = await git.git(*DIFFERENT, before, result.commit, "--")
    return Applied(
        branch=branch,
        before=before,
        commit=result.commit,
        tree=str(target.tree) if target else "",
        files=len(changed.names),
    )


def _checked_out(place: Place, branch: str) -> Place | None:
    target = next((p for p in checkouts(place.common) if branch_of(p.git_dir) == branch), None)
    if target is None and branch_of(place.common) == branch:
        raise CannotApply(f"{branch} is checked out in a folder that cannot be found.")
    return target


def _users_branch(place: Place) -> str:
    branch = branch_of(place.common)
    if not branch:
        raise CannotApply("Your repository is on no branch: say which one with --to.")
    return branch


async def _standing(git: Shadow, branch: str) -> str:
    valid = await git.git("check-ref-format", f"refs/heads/{branch}", ok=(0, 1))
    commit = "" if valid.code else await git.commit_at(f"refs/heads/{branch}")
    if not commit:
        raise CannotApply(f"There is no branch {branch}.")
    return commit


# --- what comes of it -----------------------------------------------------------------------------


async def _work(git: Shadow, memory: _Memory, words: str) -> str:
    """The session's work as one commit: HEAD, with what is uncommitted on top. All of it."""
    head = await git.commit_at("HEAD")
    captured = await capture(git, largest=None)
    if captured.left_out:
        raise CannotApply("These cannot be brought over by git", captured.left_out)
    parents = [head]
    if memory.work and not await _contains(git, head, memory.work):
        since = await _contains(git, memory.work, head)
        parents = [memory.work] if since else [head, memory.work]
    if len(parents) == 1 and captured.tree == await git.tree_of(parents[0]):
        return parents[0]
    return await git.commit(captured.tree, parents, f"{words}\n", as_person=True)


async def _result(
    git: Shadow,
    before: str,
    work: str,
    memory: _Memory,
    *,
    squash: bool,
    words: str,
    branch: str,
) -> _Result:
    work_tree, before_tree = await git.tree_of(work), await git.tree_of(before)
    nothing = _Result(work=work, commit=before, tree=before_tree)
    if await _contains(git, before, work):
        return nothing
    straight = await _contains(git, work, before)
    if straight and not squash:
        return _Result(work=work, commit=work, tree=work_tree)
    tree = work_tree if straight else await _merge(git, before, work, memory, branch)
    if tree == before_tree:
        return nothing
    parents = [before] if squash else [before, work]
    commit = await git.commit(tree, parents, f"{words}\n", as_person=True)
    return _Result(work=work, commit=commit, tree=tree)


async def _contains(git: Shadow, commit: str, other: str) -> bool:
    asked = await git.git("merge-base", "--is-ancestor", other, commit, ok=(0, 1))
    return asked.code == 0


async def _merge(git: Shadow, before: str, work: str, memory: _Memory, branch: str) -> str:
    ours = before
    if memory.work and not await _contains(git, before, memory.work):
        # It was squashed in: only we know that the branch has it. Say so, for this merge alone.
        ours = await git.commit(await git.tree_of(before), [before, memory.work], "has it\n")
    args = ("merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", ours, work)
    merged = await git.git(*args, ok=(0, CONFLICT, 128, 129))
    tree, *names = [name.decode("utf-8", "replace") for name in merged.names] or [""]
    if merged.code == CONFLICT:
        raise CannotApply(f"The work conflicts with {branch}; nothing was changed", names)
    if merged.code:
        raise CannotApply(
            f"{branch} has moved on, and this git cannot merge without a tree (2.38 can): "
            f"{merged.err.strip()[:200]}"
        )
    return tree


# --- what was brought over before -----------------------------------------------------------------


def _memory_ref(workspace: Workspace, branch: str) -> str:
    """A folder of the user's own has no name that fits into a ref: nothing is remembered of it."""
    named = re.fullmatch(r"[0-9a-f]+", workspace.id)
    return f"refs/holdfast-applied/{workspace.id}/{branch}" if named else ""


async def _recalled(git: Shadow, workspace: Workspace, branch: str, before: str) -> _Memory:
    ref = _memory_ref(workspace, branch)
    work = await git.commit_at(f"{ref}^1") if ref else ""
    commit = (await git.commit_at(f"{ref}^2") if work else "") or work  # git drops a second one
    if not commit or not await _contains(git, before, commit):
        return _Memory()  # the branch was set back since: it does not have it any more
    return _Memory(work=work, commit=commit)


async def _remember(git: Shadow, workspace: Workspace, branch: str, result: _Result) -> None:
    ref = _memory_ref(workspace, branch)
    if ref:
        pair = [result.work, result.commit]
        note = await git.commit(result.tree, pair, f"Brought into {branch}\n")
        await git.git("update-ref", ref, note)


# --- doing it -------------------------------------------------------------------------------------


async def _move_branch(git: Shadow, branch: str, before: str, after: str) -> None:
    try:
        args = ("update-ref", "-m", "holdfast: apply", f"refs/heads/{branch}", after, before)
        await git.git(*args)
    except GitFailed as error:
        raise CannotApply(f"{branch} could not be moved: {error.stderr.strip()}") from error


async def _move_tree(place: Place, branch: str, before: str, result: _Result, by: Git) -> None:
    async with shadow(place, by=by) as git:
        if await _was_half_done(git, result.tree):
            await _move_branch(git, branch, before, result.commit)
            return
        await _check_still(git, place)
        await _move_files(git, before, result.commit)
        try:
            await _move_branch(git, branch, before, result.commit)
        except CannotApply:
            await _move_files(git, result.commit, before)
            raise


async def _was_half_done(git: Shadow, tree: str) -> bool:
    """A crash between files and branch: both index and files are at the result already."""
    staged = await git.git("write-tree", ok=(0, 128))
    if staged.code or staged.line != tree:
        return False
    await git.git("update-index", "-q", "--refresh", ok=(0, 1))
    loose = await git.git("diff-files", "--no-ext-diff", "--name-only", "-z")
    return not loose.names


async def _check_still(git: Shadow, place: Place) -> None:
    busy = [name for name in UNDER_WAY if (place.git_dir / name).exists()]
    if busy:
        raise CannotApply(f"{place.tree} is in the middle of something", busy)
    dirty = await dirty_lines(git, untracked=False)
    if dirty:
        names = [line[3:] for line in dirty]
        raise CannotApply(f"{place.tree} has uncommitted changes; nothing was changed", names)


async def _move_files(git: Shadow, before: str, after: str) -> None:
    """On the tree's own index, so that git's lock keeps everybody else out. All or nothing."""
    index: Path = git.place.git_dir / "index"
    try:
        await git.git("update-index", "-q", "--refresh", index=index, ok=(0, 1))
        await git.git("read-tree", "-m", "-u", before, after, index=index)
    except GitError as error:
        raise CannotApply(f"The files of {git.place.tree} were not changed: {error}") from error
