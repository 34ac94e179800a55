"""Git as the built-in agent's tools use it: look, compare, commit; on the session's own work tree.

A commit is put together from objects, so no hook and no setting of the repository takes part. The
index goes first and the branch after it: whoever is cut off in between finds the changes staged.
"""

import asyncio

from holdfast.core.truth import Workspace
from holdfast.core.value import Value
from holdfast.workspaces.errors import WorkspaceError
from holdfast.workspaces.git import PLAIN, Git, as_text
from holdfast.workspaces.place import branch_of, locate
from holdfast.workspaces.shadow import Shadow, shadow
from holdfast.workspaces.tree import capture, install
from holdfast.workspaces.truth import dirty_lines

DIFF_CAP = 60_000  # bytes that a model gets to see


class Said(Value):
    text: str
    failed: bool = False


class SessionGit:
    def __init__(self, workspace: Workspace, *, by: Git = PLAIN) -> None:
        self._workspace, self._by = workspace, by

    async def status(self) -> Said:
        try:
            async with shadow(locate(self._workspace), by=self._by, scratch=True) as git:
                branch = branch_of(git.place.git_dir) or "(detached)"
                return Said(text="\n".join([f"On {branch}", *await dirty_lines(git)]))
        except WorkspaceError as error:
            return Said(text=str(error), failed=True)

    async def diff(self, path: str | None) -> Said:
        try:
            async with shadow(locate(self._workspace), by=self._by, scratch=True) as git:
                args = ["diff", "--no-ext-diff", "--no-textconv", "HEAD", "--"]
                out = await git.git(*args, *([path] if path else []), cap=DIFF_CAP, cut=True)
                return Said(text=out.text)
        except WorkspaceError as error:
            return Said(text=str(error), failed=True)

    async def commit(self, message: str, paths: tuple[str, ...]) -> Said:
        try:
            async with shadow(locate(self._workspace), by=self._by) as git:
                return await self._commit(git, message, paths)
        except WorkspaceError as error:
            return Said(text=str(error), failed=True)

    async def _commit(self, git: Shadow, message: str, paths: tuple[str, ...]) -> Said:
        branch = branch_of(git.place.git_dir)
        if not branch:
            return Said(text="HEAD is detached: there is no branch to commit to.", failed=True)
        head = await git.commit_at("HEAD")
        left_out: tuple[str, ...] = ()
        if paths:
            tree = await _staged(git, paths)
        else:
            captured = await capture(git, largest=None)
            tree, left_out = captured.tree, captured.left_out
        if head and tree == await git.tree_of(head):
            return Said(text="There is nothing to commit.", failed=True)
        made = await git.commit(tree, [head] if head else [], f"{message}\n", as_person=True)
        await git.git("update-index", "-q", "--refresh", ok=(0, 1))
        await asyncio.to_thread(install, git)
        ref = ("update-ref", f"refs/heads/{branch}", made, head or "0" * len(made))
        await git.git("-c", "core.logAllRefUpdates=false", *ref)
        without = (
            f" Left out, because git cannot keep it: {', '.join(left_out)}." if left_out else ""
        )
        return Said(text=f"Committed {made[:10]} on {branch}.{without}")

    async def head_message(self) -> str | None:
        try:
            async with shadow(locate(self._workspace), by=self._by, scratch=True) as git:
                return (await git.git("log", "-1", "--format=%B")).text
        except WorkspaceError:
            return None

    async def dirty(self, paths: tuple[str, ...]) -> tuple[str, ...] | None:
        try:
            async with shadow(locate(self._workspace), by=self._by, scratch=True) as git:
                out = await git.git("status", "--porcelain=v1", "-z", "-uall", "--", *paths)
                return tuple(as_text(entry)[3:] for entry in out.names if entry[3:])
        except WorkspaceError:
            return None


async def _staged(git: Shadow, paths: tuple[str, ...]) -> str:
    """Those paths as they are now, everything else as it is in HEAD."""
    await git.git("read-tree", "HEAD")
    listed = await git.git("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", "--", *paths)
    names = list(dict.fromkeys(listed.names))
    if names:
        args = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        await git.git(*args, stdin=b"\0".join(names) + b"\0")
    return await git.line("write-tree")
