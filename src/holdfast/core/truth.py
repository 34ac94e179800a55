"""What git says about a workspace now, and how that differs from what we remember (SPEC D4, D5).

Rule 1: an error is never the truth. Where git could not answer there is no drift to tell of, not
even "same", and least of all "missing": a workspace taken for missing is rebuilt.
Rule 2: the first difference that matters wins: missing, branch, HEAD, then files.
Rule 3: a file changed by us or by others, never guessed: it is ours if an open call names it.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import overload

from holdfast.core.value import Value


class Workspace(Value):
    """The work tree a session works in; its identity is checked before every resume."""

    id: str = ""
    path: str = ""
    repo: str = ""
    branch: str = ""
    base: str = ""  # the commit it started from
    git: bool = True  # False: a plain folder; no snapshots, no drift


class Truth(Value):
    """One hardened round trip to git. Lists are whole; whoever shows them cuts them."""

    head: str
    branch: str
    dirty: tuple[str, ...] = ()  # `status --porcelain` lines
    changed: tuple[str, ...] = ()  # names that differ from HEAD
    untracked: tuple[str, ...] = ()
    stat: str = ""
    workspace: str = ""  # id of the workspace that was looked at
    repo: str = ""


class NoTruth(Value):
    """Git could not answer. Never to be mistaken for an answer."""

    error: str
    missing: bool = False  # the workspace is not there at all


class Lost(Value):
    """The workspace is not there."""

    path: str
    source: str = ""  # what it can be made again from
    cannot: str = ""  # why it cannot; empty: it can


class Drift(StrEnum):
    SAME = "same"
    OURS_PARTIAL = "ours_partial"  # only files that our open calls name
    FOREIGN_EDITS = "foreign_edits"
    BRANCH_MOVED = "branch_moved"
    HEAD_MOVED = "head_moved"
    WORKSPACE_MISSING = "workspace_missing"


@overload
def drift(
    *,
    workspace: Workspace,
    before: Truth | None,
    now: Truth,
    ours: frozenset[str],
    settled: frozenset[str] = ...,
) -> Drift: ...
@overload
def drift(
    *,
    workspace: Workspace,
    before: Truth | None,
    now: Truth | NoTruth,
    ours: frozenset[str],
    settled: frozenset[str] = ...,
) -> Drift | None: ...
def drift(
    *,
    workspace: Workspace,
    before: Truth | None,
    now: Truth | NoTruth,
    ours: frozenset[str],
    settled: frozenset[str] = frozenset(),
) -> Drift | None:
    """How `now` differs from `before`; None if git could not answer.

    `ours` are the files that open calls name; `settled` those that finished calls changed since
    `before`: these are accounted for. Without a `before` nobody looked: branch and commit are held
    against what the workspace was made with, and only our own files can be said to have changed.
    """
    if isinstance(now, NoTruth):
        if now.missing:
            return Drift.WORKSPACE_MISSING
        return None if workspace.git else Drift.SAME
    if not workspace.git:
        return Drift.SAME
    if now.branch != (before.branch if before else workspace.branch or now.branch):
        return Drift.BRANCH_MOVED
    if now.head != (before.head if before else workspace.base or now.head):
        return Drift.HEAD_MOVED
    return _file_drift(_edited(before, now) - (settled - ours), ours, remembered=before is not None)


def same_place(workspace: Workspace, truth: Truth) -> bool:
    """Whether this is the workspace we left. What one side does not know is no difference."""
    return _agree(workspace.id, truth.workspace) and _agree(workspace.repo, truth.repo)


def dirty_files(truth: Truth) -> tuple[str, ...]:
    """Every file that is not as HEAD has it, once, in git's order."""
    names = [name for line in truth.dirty for name in _names(line)]
    files = dict.fromkeys([*names, *truth.changed, *truth.untracked])
    # `status` may name a folder whose files are listed as untracked: the files say more.
    return tuple(f for f in files if not (f.endswith("/") and _covers(f, files)))


def split_by_change(files: Iterable[str], truth: Truth) -> tuple[list[str], list[str]]:
    """Those of `files` that differ from HEAD, and those that do not (SPEC D10)."""
    dirty = set(dirty_files(truth))
    changed: list[str] = []
    unchanged: list[str] = []
    for file in files:
        (changed if file in dirty or _inside(file, dirty) else unchanged).append(file)
    return changed, unchanged


def _file_drift(edited: frozenset[str], ours: frozenset[str], *, remembered: bool) -> Drift:
    mine = {f for f in edited if f in ours or (f.endswith("/") and _covers(f, ours))}
    if remembered and edited - mine:
        return Drift.FOREIGN_EDITS
    return Drift.OURS_PARTIAL if mine else Drift.SAME


def _agree(mine: str, theirs: str) -> bool:
    return not mine or not theirs or mine == theirs


def _edited(before: Truth | None, now: Truth) -> frozenset[str]:
    """Files whose state is not what it was, a file put back as HEAD has it included."""
    then = _states(before) if before else {}
    today = _states(now)
    return frozenset(f for f in {*then, *today} if then.get(f) != today.get(f))


def _states(truth: Truth) -> dict[str, tuple[str, str]]:
    """For each dirty file how git marks it and how many lines differ.

    The count is there for a file that was dirty before: its name alone would say "same". Whether a
    change is staged does not matter, so the two columns of a mark are taken as one.
    """
    marks = {name: "".join(sorted(set(line[:2]))) for line in truth.dirty for name in _names(line)}
    counts = dict(_count(line) for line in truth.stat.splitlines() if " | " in line)
    return {
        file: (marks.get(file, "").strip(), counts.get(file, "")) for file in dirty_files(truth)
    }


def _count(stat_line: str) -> tuple[str, str]:
    name, _, rest = stat_line.rpartition(" | ")
    return name.strip(), rest.rstrip("+- ").strip()


def _names(status_line: str) -> list[str]:
    """The one name in a line of `status --porcelain`, or the two of a rename."""
    mark, rest = status_line[:2], status_line[3:]
    names = rest.split(" -> ", 1) if set(mark) & {"R", "C"} else [rest]
    return [_unquoted(name) for name in names]


_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


def _unquoted(name: str) -> str:
    """Git puts a name with unusual characters in quotes, bytes as octal numbers."""
    quoted = re.fullmatch(r'"(.*)"', name, re.DOTALL)
    if not quoted:
        return name
    raw = re.sub(rb"\\([0-7]{3}|.)", _unescaped, quoted[1].encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255 if code.isdigit() else _ESCAPES.get(code[0], code[0])])


def _covers(folder: str, files: Iterable[str]) -> bool:
    return any(f != folder and f.startswith(folder) for f in files)


def _inside(file: str, dirty: Iterable[str]) -> bool:
    return any(d.endswith("/") and file.startswith(d) for d in dirty)
