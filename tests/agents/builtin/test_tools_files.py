"""Files: no name leads out of the tree, a write is whole or not there, a set is all or none."""

# spec: B3, D10, M1

import ctypes
import hashlib
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from holdfast.agents.builtin import files_write
from holdfast.agents.builtin.files import Refused, Tree, has_openat2
from holdfast.agents.builtin.files_edit import NotReplaced, Replaced, replaced
from holdfast.agents.builtin.files_read import list_folder, read_lines
from holdfast.agents.builtin.files_write import Change, apply, clear_leftovers
from tests.agents.builtin.rig import context, use


@pytest.fixture(params=[True, False], ids=["openat2", "step by step"])
def tree(request, tmp_path):
    if request.param and not has_openat2():
        pytest.skip("missing: openat2")
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("one\ntwo\nthree\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("canary")
    (tmp_path / "repo-evil").mkdir()
    (tmp_path / "repo-evil" / "secret").write_text("canary")
    with Tree(root, whole_paths=request.param) as opened:
        yield opened


ONE_TWO_THREE = hashlib.sha256(b"one\ntwo\nthree\n").hexdigest()[:12]


def everything(folder):
    """Every file with its content, every folder, every link."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = None
    return found


def make_traps(tree):
    root = tree.root
    (root / "link_to_file").symlink_to("../outside/secret")
    (root / "link_to_folder").symlink_to("../outside")
    (root / "absolute").symlink_to(root.parent / "outside")
    (root / "inner").symlink_to("src")
    (root / "proc").symlink_to("/proc/self/root")
    (root / "loop").symlink_to("loop")


OUTSIDE = [
    "../outside/secret",
    "src/../../outside/secret",
    "/etc/passwd",
    "//etc/passwd",
    "{above}/outside/secret",
    "{above}/repo-evil/secret",
    "{root}/../outside/secret",
    "link_to_file",
    "link_to_folder/secret",
    "link_to_folder/made",
    "absolute/secret",
    "inner/a.py",
    "proc/etc/passwd",
    "loop",
    "src/a.py/below",
    "nul\0byte",
    "\ud800",
    "x" * 300,
    "",
    ".",
]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda p: ascii(p[:40]))
def test_no_path_leads_out_of_the_tree(tree, path):
    make_traps(tree)
    path = path.format(above=tree.root.parent, root=tree.root)
    before = everything(tree.root.parent)

    for attempt in (
        lambda: read_lines(tree, path),
        lambda: apply(tree, [Change(path=path, content=b"owned")]),
        lambda: apply(tree, [Change(path=path, content=None)]),
    ):
        with pytest.raises(Refused):
            attempt()

    assert before == everything(tree.root.parent)


def test_a_link_is_refused_with_where_it_points(tree):
    make_traps(tree)
    with pytest.raises(Refused, match=r"inner is a symbolic link to src; links are not followed"):
        read_lines(tree, "inner/a.py")


def test_a_folder_behind_a_link_is_not_listed(tree):
    make_traps(tree)
    with pytest.raises(Refused):
        list_folder(tree, "link_to_folder")
    assert "link_to_folder -> ../outside" in list_folder(tree, ".")


def test_paths_that_stay_inside_are_taken_in_any_spelling(tree):
    for path in ("src/a.py", "./src//a.py", "src/../src/a.py", str(tree.root / "src/a.py")):
        assert "     2\ttwo" in read_lines(tree, path)


GIT = [
    ".git/config",
    ".git",
    ".GIT/config",
    "sub/.git/hooks/x",
    ".g\u200cit/config",
    "src/../.git/x",
]


@pytest.mark.parametrize("path", GIT, ids=ascii)
def test_the_git_folder_is_not_written(tree, path):
    (tree.root / ".git").mkdir()
    with pytest.raises(Refused, match=r"\.git folder"):
        apply(tree, [Change(path=path, content=b"[core]\n fsmonitor = evil\n")])
    assert list((tree.root / ".git").iterdir()) == []


def test_a_race_of_renames_never_leads_out(tree):
    """One thread swaps a folder for a link to the outside, over and over; we write and read."""
    root, stop = tree.root, threading.Event()
    (root / "d").mkdir()
    (root / "d" / "secret").write_text("mine")
    (root / "trap").symlink_to("../outside")

    def swap():
        exchange = ctypes.CDLL(None).renameat2
        names = [os.fsencode(root / name) for name in ("d", "trap")]
        while not stop.is_set():
            assert exchange(-100, names[0], -100, names[1], 2) == 0

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(1500):
            try:
                apply(tree, [Change(path="d/made", content=b"x")])
                seen.add("written")
            except Refused:
                seen.add("refused")
            try:
                assert "canary" not in read_lines(tree, "d/secret")
            except Refused:
                seen.add("refused")
    finally:
        stop.set()
        thread.join()

    assert {"secret"} == {p.name for p in (root.parent / "outside").iterdir()}
    assert {"written", "refused"} == seen  # the race was real


def test_a_hard_link_to_the_outside_is_replaced_and_not_written_through(tree):
    secret = tree.root.parent / "outside" / "secret"
    os.link(secret, tree.root / "hard")

    apply(tree, [Change(path="hard", content=b"mine")])

    assert ("canary", "mine") == (secret.read_text(), (tree.root / "hard").read_text())


def test_pipes_sockets_and_devices_are_refused_and_block_nobody(tree):
    os.mkfifo(tree.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tree.root / "socket"))
        for path in ("pipe", "socket"):
            with pytest.raises(Refused):
                read_lines(tree, path)
            with pytest.raises(Refused):
                apply(tree, [Change(path=path, content=b"x")])


# --- reading --------------------------------------------------------------------------------------


def test_lines_come_with_numbers_and_say_how_to_read_on(tree):
    assert read_lines(tree, "src/a.py", offset=2, limit=1) == (
        f"     2\ttwo\n(lines 2 to 2 of 3, sha {ONE_TWO_THREE}; read on with offset 3)"
    )


def test_past_the_end_is_told(tree):
    with pytest.raises(Refused, match=r"has 3 lines; offset 9 is past its end"):
        read_lines(tree, "src/a.py", offset=9)


def test_a_missing_file_comes_with_names_near_it(tree):
    with pytest.raises(Refused, match=r"There is no src/b\.py in the work tree\. Near it: a\.py\."):
        read_lines(tree, "src/b.py")


def test_what_is_no_text_is_described_or_replaced_and_never_breaks_a_database(tree):
    (tree.root / "image").write_bytes(b"\x89PNG\r\n\0\0")
    (tree.root / "latin").write_bytes(b"caf\xe9\n")
    (tree.root / "wide").write_bytes("größe\n".encode("utf-16"))
    (tree.root / "late").write_bytes(b"x" * 9000 + b"\n\0\n")
    (tree.root / os.fsdecode(b"bad\xff")).write_text("x")

    assert read_lines(tree, "image") == (
        "image is a binary file (a PNG image, 8 bytes); its content is not shown."
    )
    assert "caf\ufffd" in read_lines(tree, "latin")
    assert "größe" in read_lines(tree, "wide")
    assert "\0" not in read_lines(tree, "late")
    assert "bad\ufffd" in list_folder(tree, ".").encode().decode()


def test_huge_files_and_endless_lines_are_bounded(tree):
    (tree.root / "lines").write_text("x\n" * 50_000)
    (tree.root / "line").write_text("y" * 5_000_000)
    with (tree.root / "sparse").open("wb") as file:
        file.write(b"text\n")
        file.truncate(40_000_000)

    assert read_lines(tree, "lines").endswith("; read on with offset 2001)")
    assert len(read_lines(tree, "line")) < 2200
    assert len(read_lines(tree, "sparse")) < 200


# --- writing --------------------------------------------------------------------------------------


def test_a_write_makes_folders_and_keeps_the_mode(tree):
    script = tree.root / "run"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o754)

    apply(tree, [Change(path="run", content=b"#!/bin/sh\nexit\n")])
    apply(tree, [Change(path="deep/er/file", content=b"x")])

    assert stat.S_IMODE(script.stat().st_mode) == 0o754
    assert (tree.root / "deep/er/file").read_text() == "x"
    assert [p.name for p in tree.root.rglob(".holdfast*")] == []


BAD_LAST = {
    "a folder": Change(path="src", content=b"x"),
    "a link": Change(path="link_to_file", content=b"x"),
    "git": Change(path=".git/config", content=b"x"),
    "outside": Change(path="../x", content=b"x"),
    "not there": Change(path="missing", content=None),
    "changed": Change(path="src/a.py", content=b"x", expect="0123456789ab"),
    "there already": Change(path="src/a.py", content=b"x", expect="absent"),
    "twice": Change(path="made/./one", content=b"x"),
    "too long": Change(path="y" * 300, content=b"x"),
}


@pytest.mark.parametrize("last", BAD_LAST.values(), ids=BAD_LAST.keys())
def test_a_set_with_one_bad_file_changes_nothing(tree, last):
    make_traps(tree)
    (tree.root / "b").write_text("b")
    before = everything(tree.root)
    good = [Change(path="made/one", content=b"1"), Change(path="b", content=None)]

    with pytest.raises(Refused):
        apply(tree, [*good, last])

    assert before == everything(tree.root)


def test_a_set_that_fails_between_its_renames_is_taken_back(tree, monkeypatch):
    (tree.root / "b").write_text("b")
    (tree.root / "c").write_text("c")
    changes = [
        Change(path="src/a.py", content=b"changed"),
        Change(path="b", content=None),
        Change(path="fresh/file", content=b"new"),
        Change(path="c", content=b"changed"),
    ]
    before = everything(tree.root)
    rename, renames = os.rename, []

    def third_fails(source, target, **more):
        renames.append(target)
        if target == "c" and renames.count("c") == 1:
            raise OSError(28, "No space left on device")
        rename(source, target, **more)

    monkeypatch.setattr(files_write.os, "rename", third_fails)
    with pytest.raises(Refused, match=r"c could not be written: No space left on device; free"):
        apply(tree, changes)

    assert {"a.py", "file", "c"} <= set(renames)  # it had begun
    assert before == everything(tree.root)

    apply(tree, changes)
    assert everything(tree.root) == {
        "src": None,
        "src/a.py": b"changed",
        "fresh": None,
        "fresh/file": b"new",
        "c": b"changed",
    }


def test_an_expected_sha_may_be_ours_or_gits_and_short(tree):
    sha = ONE_TWO_THREE
    apply(tree, [Change(path="src/a.py", content=b"two\n", expect=sha)])
    blob = "f719efd430d52bcfc8566a43b2eb655688d38871"
    apply(tree, [Change(path="src/a.py", content=b"three\n", expect=blob)])
    with pytest.raises(Refused):
        apply(tree, [Change(path="src/a.py", content=b"x", expect="")])
    with pytest.raises(Refused):
        apply(tree, [Change(path="src/a.py", content=b"x", expect=sha)])

    assert (tree.root / "src/a.py").read_text() == "three\n"


def test_what_a_killed_write_left_is_removed_and_nothing_else(tree):
    left = tree.root / "src" / ".holdfast-0123456789abcdef.tmp"
    kept = tree.root / "src" / ".holdfast-notes.tmp"
    left.write_text("half")
    kept.write_text("the user's own")

    clear_leftovers(tree, ["src/a.py"])

    assert (False, True) == (left.exists(), kept.exists())


# --- editing --------------------------------------------------------------------------------------

EDITS = [
    ("a b a", "b", "c", False, "a c a"),
    ("a b a", "a", "c", True, "c b c"),
    ("x\r\ny\r\n", "x\ny", "x\nz", False, "x\r\nz\r\n"),
    ("x\ny\n", "y\n", "", False, "x\n"),
]


@pytest.mark.parametrize(("text", "old", "new", "all", "expected"), EDITS)
def test_an_edit_replaces_exactly(text, old, new, all, expected):
    done = replaced(text, old, new, all=all)

    assert isinstance(done, Replaced) and done.text == expected


REFUSALS = [
    ("a\nb\na\n", "a", "c", "`old` is in the file 2 times (lines 1, 3); give more of the lines"),
    ("def go(x):\n", "def go(y):", "z", "Nearest: line 1: def go(x):."),
    ("a", "q" * 40, "z", "Read it again and copy the text exactly."),
    ("a", "", "z", "`old` is empty; use write"),
    ("a", "a", "a", "are the same; nothing would change."),
]


@pytest.mark.parametrize(("text", "old", "new", "expected"), REFUSALS)
def test_an_edit_that_cannot_be_made_says_what_helps(text, old, new, expected):
    refused = replaced(text, old, new)

    assert isinstance(refused, NotReplaced) and expected in refused.why


async def test_a_file_that_is_not_utf_8_is_not_edited(tmp_path):
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    with context(tmp_path) as ctx:
        done = await use(ctx, "edit", path="latin", old="caf", new="tea")

    assert done.failed and "not UTF-8" in done.output
    assert (tmp_path / "latin").read_bytes() == b"caf\xe9\n"
