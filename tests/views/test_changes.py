"""A patch, file by file: nobody's piece is another's, and what was cut is said."""

# spec: H4

from holdfast.views.changes import FileChange, by_file, counted

A = "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"
B = "diff --git a/b b/b\n@@ -0,0 +1,2 @@\n+diff --git a/c b/c\n+++ tricky\n"
LINK = "diff --git a/l b/l\ndeleted file mode 100644\n"
LINK_BACK = "diff --git a/l b/l\nnew file mode 120000\n"


def change(name: str, mark: str = "M", lines: int | None = 1) -> FileChange:
    return FileChange(name=name, mark=mark, added=lines, removed=lines)


def test_each_file_has_its_own_piece():
    files = [change("a"), change("b", "A"), change("l", "T"), change("a2")]
    found = by_file(files, A + B + LINK + LINK_BACK + A)
    assert [A, B, LINK + LINK_BACK, A] == [f.patch for f in found]
    assert ["modified", "added", "retyped", "modified"] == [f.status for f in found]
    assert not any(f.truncated for f in found)


def test_untracked_and_binary_files_are_said_to_be_so():
    [new, picture] = by_file(
        [
            FileChange(name="n", mark="A", added=1, removed=0, untracked=True),
            change("p", "A", None),
        ],
        A + B,
    )
    assert ("untracked", False) == (new.status, new.binary)
    assert ("added", True, None) == (picture.status, picture.binary, picture.added)


def test_a_long_file_is_cut_at_a_line_and_leaves_room_for_the_others():
    found = by_file([change("a"), change("b")], A + B, each=len(B))
    assert found[0].truncated and found[0].patch.endswith("\n") and len(found[0].patch) <= len(B)
    assert A.startswith(found[0].patch)
    assert (B, False) == (found[1].patch, found[1].truncated)


def test_all_together_have_a_cap():
    found = by_file([change("a"), change("a"), change("a")], A * 3, whole=len(A) + 10)
    assert [False, True, True] == [f.truncated for f in found]
    assert sum(len(f.patch) for f in found) <= len(A) + 10


def test_a_patch_that_ends_early_says_which_files_it_lacks():
    found = by_file([change("a"), change("b"), change("c")], A + B[:20], cut=True)
    assert [False, True, True] == [f.truncated for f in found]


def test_the_count_is_one_line():
    assert "nothing changed" == counted(0, 0, 0)
    assert "1 file changed, +2 -0" == counted(1, 2, 0)
    assert "3 files changed, +2 -1" == counted(3, 2, 1)
