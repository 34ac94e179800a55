"""The port `Work`, on git: a session's work, looked at and brought over.

Whatever stands in the way is a refusal in one sentence; nothing was changed then.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from holdfast.core.errors import Refused
from holdfast.core.session import Session
from holdfast.core.truth import Workspace
from holdfast.views.changes import AppliedOut, DiffOut, by_file, file_out
from holdfast.views.choices import FolderOut
from holdfast.workspaces import mending
from holdfast.workspaces.apply import apply
from holdfast.workspaces.changes import CAP, Diff, Form, diff, saved_diff
from holdfast.workspaces.errors import FolderMissing, WorkspaceError
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.looking import look

SAVED = 256 << 10  # bytes of the patch in a checkpoint
LISTED = 4 << 20  # bytes of a patch that is shown file by file


class GitWork:
    def __init__(self, *, by: Git = PLAIN) -> None:
        self._by = by

    async def diff(
        self, session: Session, *, path: str | None = None, text: bool = True
    ) -> DiffOut:
        form = Form.PATCH if text else Form.NAMES
        with _refusing(session):
            cap = LISTED if path is None else CAP
            found = await diff(session.workspace, form=form, path=path, cap=cap, by=self._by)
        # A large patch is taken apart beside the loop, which has others to serve.
        return await asyncio.to_thread(_told, session.workspace, found, whole=path is not None)

    async def patch(self, session: Session, *, stat: bool = False) -> bytes:
        form = Form.STAT if stat else Form.BINARY
        with _refusing(session):
            found = await diff(session.workspace, form=form, by=self._by)
        if found.cut:
            path, base = session.workspace.path, found.base[:12]
            raise Refused(
                f"The patch has more than {CAP >> 20} MB.",
                f"`hold diff {session.id[:6]} --stat` lists the files; "
                f"`git -C {path} diff {base}` shows all of it.",
            )
        missing = "".join(f"# Not shown, too large or unreadable: {n!r}\n" for n in found.left_out)
        return missing.encode() + found.raw

    async def saved(self, session: Session) -> str | None:
        where, path = session.workspace, Path(session.workspace.path)
        if not session.own_tree or not mending.gone(path):
            return None
        try:
            last = await mending.newest_snapshot(where, session.id, by=self._by)
            if last is None:
                return None
            found = await saved_diff(where, last.commit, cap=SAVED, by=self._by)
        except (WorkspaceError, OSError):
            return None  # a resume says what is wrong; this is only for reference
        return found.text + ("\n# The rest is not shown.\n" if found.cut else "")

    async def apply(self, session: Session, *, to: str | None, squash: bool) -> AppliedOut:
        with _refusing(session):
            done = await apply(
                session.workspace,
                to=to,
                squash=squash,
                message=f"{session.title or 'Work'}\n\nHoldfast session {session.id}",
                by=self._by,
            )
        return AppliedOut(
            branch=done.branch,
            before=done.before,
            commit=done.commit,
            moved=done.moved,
            folder=done.tree,
            files=done.files,
        )

    async def look(self, folder: str) -> FolderOut:
        return await look(folder, by=self._by)


@contextlib.contextmanager
def _refusing(session: Session) -> Iterator[None]:
    if not session.workspace.git:
        raise Refused("This session works in a plain folder: without git nothing is compared.")
    try:
        yield
    except FolderMissing as error:
        branch = session.workspace.branch
        hint = f"What was committed is on the branch {branch}." if branch else ""
        raise Refused(str(error), hint) from error
    except (WorkspaceError, OSError) as error:
        raise Refused(str(error)) from error


def _told(workspace: Workspace, found: Diff, *, whole: bool) -> DiffOut:
    if not found.raw:
        files = tuple(file_out(file) for file in found.files)
    elif whole:
        files = by_file(found.files, found.text, cut=found.cut, each=CAP, whole=CAP)
    else:
        files = by_file(found.files, found.text, cut=found.cut)
    return DiffOut(
        base=found.base,
        branch=workspace.branch,
        files=files,
        added=sum(file.added or 0 for file in found.files),
        removed=sum(file.removed or 0 for file in found.files),
        left_out=found.left_out,
        truncated=any(file.truncated for file in files),
    )
