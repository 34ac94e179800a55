"""How the state of a workspace is held against what we remember of it."""

# spec: D2 D5 D10

import pytest

from holdfast.core.truth import (
    Drift,
    NoTruth,
    Truth,
    Workspace,
    dirty_files,
    drift,
    same_place,
    split_by_change,
)

WORKSPACE = Workspace(id="w1", path="/tree", repo="r1", branch="main", base="aaa")
PLAIN = Workspace(id="w1", path="/folder", git=False)
CLEAN = Truth(head="aaa", branch="main")
OURS = frozenset({"ours.py"})


def seen(*lines, head="aaa", branch="main", stat="", untracked=()):
    return Truth(head=head, branch=branch, dirty=lines, stat=stat, untracked=untracked)


DRIFTS = {
    "nothing happened": (CLEAN, CLEAN, Drift.SAME),
    "dirty as it was left": (seen(" M a.py"), seen(" M a.py"), Drift.SAME),
    "staging is no edit": (seen(" M a.py"), seen("M  a.py"), Drift.SAME),
    "a file that an open call names": (CLEAN, seen(" M ours.py"), Drift.OURS_PARTIAL),
    "the same file was deleted": (seen(" M ours.py"), seen(" D ours.py"), Drift.OURS_PARTIAL),
    "a file of ours was put back": (seen(" M ours.py"), CLEAN, Drift.OURS_PARTIAL),
    "a new file of ours": (
        CLEAN,
        Truth(head="aaa", branch="main", untracked=("ours.py",)),
        Drift.OURS_PARTIAL,
    ),
    "a dirty file was edited further": (
        seen(" M ours.py", stat=" ours.py | 2 +-"),
        seen(" M ours.py", stat=" ours.py | 4 ++--\n 1 file changed"),
        Drift.OURS_PARTIAL,
    ),
    "a graph of another width is no edit": (
        seen(" M ours.py", stat=" ours.py | 40 ++++----"),
        seen(" M ours.py", stat=" ours.py | 40 ++--"),
        Drift.SAME,
    ),
    "a file that no call names": (CLEAN, seen(" M theirs.py"), Drift.FOREIGN_EDITS),
    "a file whose name begins that of ours": (CLEAN, seen(" M ours"), Drift.FOREIGN_EDITS),
    "a folder that has nothing of ours": (CLEAN, seen("?? other/"), Drift.FOREIGN_EDITS),
    "one of ours and one of theirs": (
        CLEAN,
        seen(" M ours.py", "?? theirs.py"),
        Drift.FOREIGN_EDITS,
    ),
    "their edit was put back": (seen(" M theirs.py"), CLEAN, Drift.FOREIGN_EDITS),
    "changed without a status line": (
        CLEAN,
        Truth(head="aaa", branch="main", changed=("theirs.py",)),
        Drift.FOREIGN_EDITS,
    ),
    "ours was renamed by somebody": (CLEAN, seen("R  ours.py -> theirs.py"), Drift.FOREIGN_EDITS),
    "another commit": (CLEAN, seen(head="bbb"), Drift.HEAD_MOVED),
    "another commit beats edits": (CLEAN, seen(" M theirs.py", head="bbb"), Drift.HEAD_MOVED),
    "another branch": (CLEAN, seen(branch="other"), Drift.BRANCH_MOVED),
    "another branch beats another commit": (
        CLEAN,
        seen(head="bbb", branch="other"),
        Drift.BRANCH_MOVED,
    ),
    "HEAD was detached": (CLEAN, seen(branch=""), Drift.BRANCH_MOVED),
    "the agent's own branch was remembered": (
        seen(branch="topic"),
        seen(branch="topic"),
        Drift.SAME,
    ),
    "the workspace is gone": (
        CLEAN,
        NoTruth(error="no such folder", missing=True),
        Drift.WORKSPACE_MISSING,
    ),
    "git could not answer": (CLEAN, NoTruth(error="index.lock"), None),
    "never looked, as it was made": (None, CLEAN, Drift.SAME),
    "never looked, our file is dirty": (None, seen(" M ours.py"), Drift.OURS_PARTIAL),
    "never looked, so no edit is foreign": (None, seen(" M theirs.py"), Drift.SAME),
    "never looked, not on its base": (None, seen(head="bbb"), Drift.HEAD_MOVED),
    "never looked, not on its branch": (None, seen(branch="other"), Drift.BRANCH_MOVED),
}


@pytest.mark.parametrize(("before", "now", "expected"), DRIFTS.values(), ids=DRIFTS)
def test_drift_is_the_first_difference_that_matters(before, now, expected):
    actual = drift(workspace=WORKSPACE, before=before, now=now, ours=OURS)

    assert expected == actual


def test_a_workspace_that_knows_neither_branch_nor_base_has_not_moved():
    expected = Drift.SAME

    actual = drift(workspace=Workspace(), before=None, now=CLEAN, ours=OURS)

    assert expected == actual


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (Truth(head="", branch=""), Drift.SAME),
        (seen(" M theirs.py", head="bbb", branch="other"), Drift.SAME),
        (NoTruth(error="not a repository"), Drift.SAME),
        (NoTruth(error="no such folder", missing=True), Drift.WORKSPACE_MISSING),
    ],
)
def test_a_plain_folder_never_drifts_unless_it_is_gone(now, expected):
    actual = drift(workspace=PLAIN, before=CLEAN, now=now, ours=OURS)

    assert expected == actual


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((" M done.py",), Drift.SAME),
        ((" M done.py", " M ours.py"), Drift.OURS_PARTIAL),
        ((" M done.py", " M theirs.py"), Drift.FOREIGN_EDITS),
    ],
)
def test_what_finished_calls_changed_is_accounted_for(lines, expected):
    settled = frozenset({"done.py", "ours.py"})  # an open call that names it too goes first

    actual = drift(workspace=WORKSPACE, before=CLEAN, now=seen(*lines), ours=OURS, settled=settled)

    assert expected == actual


@pytest.mark.parametrize(
    ("untracked", "expected"),
    [((), Drift.OURS_PARTIAL), (("new/a.py", "new/b.py"), Drift.FOREIGN_EDITS)],
)
def test_an_untracked_folder_is_ours_if_nothing_but_our_file_is_known_in_it(untracked, expected):
    now = seen("?? new/", untracked=untracked)

    actual = drift(workspace=WORKSPACE, before=CLEAN, now=now, ours=frozenset({"new/a.py"}))

    assert expected == actual


@pytest.mark.parametrize(
    ("workspace", "truth", "expected"),
    [
        (WORKSPACE, Truth(head="a", branch="b", workspace="w1", repo="r1"), True),
        (WORKSPACE, Truth(head="a", branch="b", workspace="w2", repo="r1"), False),
        (WORKSPACE, Truth(head="a", branch="b", workspace="w1", repo="r2"), False),
        (WORKSPACE, Truth(head="a", branch="b"), True),
        (Workspace(), Truth(head="a", branch="b", workspace="w2", repo="r2"), True),
    ],
)
def test_only_a_known_difference_makes_it_another_place(workspace, truth, expected):
    assert expected == same_place(workspace, truth)


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        (CLEAN, ()),
        (seen(" M a.py", "?? b.py"), ("a.py", "b.py")),
        (seen("R  a.py -> b.py"), ("a.py", "b.py")),
        (seen(" M a -> b.py"), ("a -> b.py",)),
        (seen("?? new/", untracked=("new/a.py",)), ("new/a.py",)),
        (seen("?? new/"), ("new/",)),
        (seen(" M a", " M ab"), ("a", "ab")),
        (seen(r'?? "tab\there \303\251 \"q\".py"'), ('tab\there é "q".py',)),
        (Truth(head="a", branch="b", dirty=(" M a",), changed=("a", "b")), ("a", "b")),
    ],
)
def test_dirty_files_are_named_once_and_without_gits_quotes(truth, expected):
    assert expected == dirty_files(truth)


def test_a_patchset_is_split_into_the_files_that_changed_and_those_that_did_not():
    expected = (["a.py", "new/c.py"], ["b.py", "a.pyc"])

    actual = split_by_change(("a.py", "b.py", "new/c.py", "a.pyc"), seen(" M a.py", "?? new/"))

    assert expected == actual
