"""The work tree of a fork: the parent's files as they were after a round, on a branch of its own.

Rule 1: of the snapshots of those rounds, the newest of the last round that has one.
Rule 2: `tip` means now: what is in the parent's tree is snapshotted first. If that tree is not there
any more, its last snapshot is what there is.
Rule 3: without any snapshot, the commit it began with.
"""

from collections.abc import Sequence
from pathlib import Path

from holdfast.core.ids import RoundNumber, SessionId
from holdfast.core.truth import Workspace
from holdfast.workspaces import snapshots
from holdfast.workspaces.errors import FolderMissing
from holdfast.workspaces.git import Git
from holdfast.workspaces.place import nowhere
from holdfast.workspaces.shadow import shadow
from holdfast.workspaces.snapshots import Snapshot
from holdfast.workspaces.worktree import branch_off


class Parent:
    """Whose work is forked, as it is now."""

    def __init__(self, id: SessionId, workspace: Workspace, by: Git) -> None:
        self.id, self.workspace, self.by = id, workspace, by


async def fork_tree(
    parent: Parent,
    child: SessionId,
    *,
    state: Path,
    title: str,
    rounds: Sequence[RoundNumber],
    tip: bool,
) -> Workspace:
    common = Path(parent.workspace.repo)
    if not (common / "objects").is_dir():
        raise FolderMissing(f"The repository {common} is not there.")
    if tip:
        await _take(parent, rounds[-1])
    source = await _chosen(parent, rounds)
    return await branch_off(common, source, state=state, session=child, title=title, by=parent.by)


async def _take(parent: Parent, round: RoundNumber) -> None:
    try:
        await snapshots.take(parent.workspace, parent.id, 0, round=round, by=parent.by)
    except FolderMissing:
        return


async def _chosen(parent: Parent, rounds: Sequence[RoundNumber]) -> Snapshot:
    async with shadow(nowhere(Path(parent.workspace.repo)), by=parent.by) as git:
        kept = await snapshots.all_of(git, parent.id)
        order = {round: n for n, round in enumerate(rounds)}
        fitting = [s for s in kept if s.round in order]
        if fitting:
            return max(fitting, key=lambda s: (order[RoundNumber(s.round)], s.number))
        base = parent.workspace.base
        tree = await git.tree_of(base)
        return Snapshot(number=0, commit=base, tree=tree, head=base, round=0, left_out=())
