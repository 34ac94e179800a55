"""What git says about a workspace now (SPEC D4).

Rule 1: an error text is never the truth: every way to fail ends as `NoTruth` with a sentence.
Rule 2: nothing is locked and nothing is written: a held lock does not hinder a look, and a look
hinders nobody.
Rule 3: one look is one commit: HEAD is read once, and everything is held against that.
"""

import asyncio
import re

from holdfast.core.truth import NoTruth, Truth, Workspace
from holdfast.workspaces.errors import FolderMissing, NoCommitYet, WorkspaceError
from holdfast.workspaces.git import PLAIN, Git, as_text
from holdfast.workspaces.place import branch_of, locate
from holdfast.workspaces.shadow import Shadow, shadow

# No `--ignore-submodules=none`: git would run itself inside the submodule, with its settings.
STATUS = ("status", "--porcelain=v1", "-z", "-uall", "--ignore-submodules=dirty", "--find-renames")
DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=dirty")
# Wide: a shortened name could not be told from another, and the graph says nothing to a model.
STAT = ("--stat=1000,900", "--stat-graph-width=10")

_UNUSUAL = re.compile(r'[\x00-\x1f\x7f"\\]| -> |^ | $')
_ESCAPES = {"\n": "n", "\t": "t", "\r": "r", '"': '"', "\\": "\\"}


async def read_truth(workspace: Workspace, *, by: Git = PLAIN) -> Truth | NoTruth:
    if not workspace.git:
        return NoTruth(error="This is a plain folder without git: nothing is known about it.")
    try:
        return await _look(workspace, by)
    except FolderMissing as missing:
        return NoTruth(error=str(missing), missing=True)
    except (WorkspaceError, OSError) as error:
        return NoTruth(error=str(error))


async def _look(workspace: Workspace, by: Git) -> Truth:
    place = locate(workspace)
    async with shadow(place, by=by) as git:
        branch = branch_of(git.folder)
        head = await git.commit_at("HEAD")
        if not head:
            raise NoCommitYet(f"The repository of {place.tree} has no commit yet.")
        status, changed, stat = await asyncio.gather(
            git.git(*STATUS),
            git.git("diff", *DIFF, "--name-only", "-z", head, "--"),
            git.git("diff", *DIFF, *STAT, head, "--"),
        )
    lines, untracked = parse_status(status.names)
    return Truth(
        head=head,
        branch=branch.encode("utf-8", "replace").decode(),
        dirty=tuple(lines),
        changed=tuple(as_text(name) for name in changed.names),
        untracked=tuple(untracked),
        stat=stat.text.rstrip("\n"),
        workspace=workspace.id,
        repo=str(place.common),
    )


async def dirty_lines(git: Shadow, *, untracked: bool = True) -> list[str]:
    """The lines of `status`; empty if the tree is clean."""
    which = STATUS if untracked else (*STATUS, "-uno")
    return parse_status((await git.git(*which)).names)[0]


def parse_status(entries: list[bytes]) -> tuple[list[str], list[str]]:
    """Entries of `status -z` as the lines that `status` prints, and the untracked names.

    A rename is two entries, the name it has now first.
    """
    lines: list[str] = []
    untracked: list[str] = []
    rest = iter(as_text(entry) for entry in entries)
    for entry in rest:
        mark, name = entry[:2], entry[3:]
        if set(mark) & {"R", "C"}:
            lines.append(f"{mark} {_quoted(next(rest, ''))} -> {_quoted(name)}")
        else:
            lines.append(f"{mark} {_quoted(name)}")
        if mark == "??":
            untracked.append(name)
    return lines, untracked


def _quoted(name: str) -> str:
    """As git quotes a name that would be taken for something else (core/truth.py undoes it)."""
    if not _UNUSUAL.search(name):
        return name
    return '"' + "".join(_escaped(char) for char in name) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return f"\\{_ESCAPES[char]}"
    return f"\\{ord(char):03o}" if ord(char) < 32 or ord(char) == 127 else char  # noqa: PLR2004
