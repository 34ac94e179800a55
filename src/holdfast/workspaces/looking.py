"""A folder, looked at before a session is made in it: the same question that making one asks (SPEC H2)."""

import os
from pathlib import Path

from holdfast.views.choices import FolderOut, FolderState
from holdfast.workspaces.errors import FolderMissing, NoCommitYet, NotARepository, WorkspaceError
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.shadow import shadow
from holdfast.workspaces.truth import dirty_lines
from holdfast.workspaces.worktree import find_repo


async def look(folder: str, *, by: Git = PLAIN) -> FolderOut:
    path = Path(os.path.expanduser(folder))  # noqa: ASYNC240, PTH111  a variable, no file
    if not path.is_absolute():
        return _not(folder, "missing", "Give the whole path, from / or ~ on.")
    try:
        repo = await find_repo(path, by=by)
        async with shadow(repo.place, by=by) as git:
            changes = len(await dirty_lines(git))
    except FolderMissing:
        return _not(folder, "missing", "There is no such folder on this machine.")
    except NotARepository:
        return _not(str(path), "no_git", "This folder is not in a git repository.")
    except NoCommitYet:
        return _not(str(path), "no_commit", "This repository has no commit yet: commit once first.")
    except (WorkspaceError, OSError, ValueError) as error:
        return _not(str(path), "trouble", str(error))
    branch = repo.branch or repo.head[:7]
    return FolderOut(path=str(path), state="ready", branch=branch, uncommitted=changes, says="")


def _not(path: str, state: FolderState, says: str) -> FolderOut:
    return FolderOut(path=path, state=state, branch="", uncommitted=0, says=says)
