"""What a call that nobody saw the end of says about itself, from the world alone."""

# spec: D7, D10, C6

import asyncio
import contextlib
import json
import subprocess
import sys

import pytest

from holdfast.agents.builtin.probe import probe
from holdfast.agents.builtin.tools import registry
from holdfast.core.ids import CallId
from holdfast.core.resume import Probe
from holdfast.core.session import Call, EffectClass
from tests.agents.builtin.rig import RealGit, context, git, repository, use

DONE, NOT_DONE, UNKNOWN = Probe.DONE, Probe.NOT_DONE, Probe.UNKNOWN


def call(name, /, **arguments):
    effect = registry()[name].effect
    return Call(id=CallId("c"), name=name, arguments=json.dumps(arguments), effect=effect)


async def ask(folder, asked, *, real_git=None):
    with context(folder) as ctx:
        return await probe(asked, ctx.tree, real_git, tools=registry())


def fill(folder, files):
    for name, text in files.items():
        if text is not None:
            (folder / name).write_bytes(text.encode())


WRITES = [(None, NOT_DONE), ("other", NOT_DONE), ("text\n", DONE), ("text", NOT_DONE)]


@pytest.mark.parametrize(("there", "expected"), WRITES)
async def test_a_write_is_done_if_the_file_is_exactly_that(tmp_path, there, expected):
    fill(tmp_path, {"x": there})

    assert expected == await ask(tmp_path, call("write", path="x", content="text\n"))


EDITS = [
    # what is there, old, new, all, what is said
    ("a two c", "one", "two", False, DONE),
    ("a one c", "one", "two", False, NOT_DONE),
    ("a one c two", "one", "two", False, NOT_DONE),
    ("one one", "one", "two", False, UNKNOWN),
    ("one one", "one", "two", True, NOT_DONE),
    ("two two", "one", "two", True, DONE),
    ("neither", "one", "two", False, UNKNOWN),
    (None, "one", "two", False, UNKNOWN),
    ("a\nb\nc", "b", "b\nb2", False, NOT_DONE),
    ("a\nb\nb2\nc", "b\n", "b\nb2\n", False, DONE),
    ("a b b2 b", "b", "b b2", False, UNKNOWN),
    ("keep drop", "keep drop", "keep", False, NOT_DONE),
    ("keep", "keep drop", "keep", False, DONE),
    ("rest", "gone", "", False, DONE),
    ("rest gone", "gone", "", False, NOT_DONE),
    ("x\r\ntwo\r\n", "x\none", "x\ntwo", False, DONE),
]


@pytest.mark.parametrize(("there", "old", "new", "all", "expected"), EDITS)
async def test_an_edit_is_told_by_what_stands_there(tmp_path, there, old, new, all, expected):
    fill(tmp_path, {"x": there})

    assert expected == await ask(tmp_path, call("edit", path="x", old=old, new=new, all=all))


PATCHES = [
    ({"a": "1", "b": None, "c": "3"}, DONE),
    ({"a": "0", "b": "2", "c": None}, NOT_DONE),
    ({"a": "1", "b": "2", "c": None}, UNKNOWN),
    ({"a": "1", "b": None, "c": None}, UNKNOWN),
]


@pytest.mark.parametrize(("there", "expected"), PATCHES)
async def test_a_patchset_is_done_not_done_or_halfway(tmp_path, there, expected):
    fill(tmp_path, there)
    wanted = {"a": "1", "b": None, "c": "3"}
    files = [{"path": path, "content": content} for path, content in wanted.items()]

    assert expected == await ask(tmp_path, call("apply_patchset", files=files))


async def test_a_probe_agrees_with_the_tool_itself(tmp_path):
    """Before: not done. After: done. For each tool that can be asked, on the same files."""
    tree = repository(tmp_path / "r", {"a": "one\n", "b": "two\n"})
    real = RealGit(tree)
    steps = [
        ("write", {"path": "n", "content": "x"}),
        ("edit", {"path": "a", "old": "one", "new": "three"}),
        (
            "apply_patchset",
            {"files": [{"path": "b", "content": None}, {"path": "m", "content": ""}]},
        ),
        ("git_commit", {"message": "all\n\n\nof it  \n", "paths": ["a", "n"]}),
        ("git_commit", {"message": "the rest"}),
    ]
    said = []
    with context(tree, real_git=real) as ctx:
        for name, arguments in steps:
            before = await ask(tree, call(name, **arguments), real_git=real)
            done = await use(ctx, name, **arguments)
            after = await ask(tree, call(name, **arguments), real_git=real)
            said.append((name, before, done.failed, after))

    assert said == [(name, NOT_DONE, False, DONE) for name, _ in steps]


async def test_a_commit_that_cannot_be_told_is_unknown(tmp_path):
    tree = repository(tmp_path / "r", {"a": "one\n"})
    real = RealGit(tree)
    same = call("git_commit", message="first")
    other = call("git_commit", message="second")

    assert await ask(tree, other, real_git=real) is UNKNOWN  # clean: somebody else was here
    (tree / "a").write_text("two\n")
    assert await ask(tree, same, real_git=real) is UNKNOWN  # done and edited, or an earlier one
    assert await ask(tree, same) is UNKNOWN
    git(tree, "update-ref", "-d", "HEAD")
    assert await ask(tree, same, real_git=real) is UNKNOWN


async def test_a_call_with_secrets_taken_out_is_never_run_again_by_itself(tmp_path):
    asked = call("write", path="x", content="key = [redacted]\n")
    assert await ask(tmp_path, asked) is UNKNOWN

    fill(tmp_path, {"x": "key = [redacted]\n"})
    assert await ask(tmp_path, asked) is DONE


async def test_only_probeable_calls_are_probed(tmp_path):
    unsafe = call("shell", command="true")
    stored = Call(
        id=CallId("c"),
        name="write",
        arguments='{"path": "x", "content": ""}',
        effect=EffectClass.UNSAFE,  # what was declared when it was journaled counts
    )
    strange = Call(id=CallId("c"), name="nope", effect=EffectClass.PROBEABLE)

    assert [await ask(tmp_path, c) for c in (unsafe, stored, strange)] == [UNKNOWN] * 3


async def test_a_call_that_could_never_have_run_may_run_again_to_say_why(tmp_path):
    assert await ask(tmp_path, call("write", path="../x", content="")) is NOT_DONE


async def test_what_the_cut_off_write_had_prepared_is_removed(tmp_path):
    (tmp_path / ".holdfast-0123456789abcdef.tmp").write_text("half")
    await ask(tmp_path, call("write", path="x", content="whole"))

    assert list(tmp_path.iterdir()) == []


PATCHER = """
import sys
from pathlib import Path
from holdfast.agents.builtin.files import Tree
from holdfast.agents.builtin.files_write import Change, apply
tree = Tree(Path(sys.argv[1]))
print("ready", flush=True)
for round in range(10**9):
    content = (b"%d\\n" % round) * 20_000
    apply(tree, [Change(path=f"d{n}/f", content=content) for n in range(4)])
"""


@pytest.mark.parametrize("wait", [0.02, 0.05, 0.08, 0.11, 0.14, 0.17])
def test_a_killed_patchset_leaves_whole_files_and_says_which(tmp_path, wait):
    """kill -9 at some moment: no file is half of anything, and at most two states are mixed."""
    with subprocess.Popen(
        [sys.executable, "-c", PATCHER, str(tmp_path)], stdout=subprocess.PIPE
    ) as patcher:
        patcher.stdout.readline()
        with contextlib.suppress(subprocess.TimeoutExpired):
            patcher.wait(wait)
        patcher.kill()
    contents = [path.read_text() for path in sorted(tmp_path.glob("d*/f"))]
    rounds = {text.split("\n", 1)[0] for text in contents}
    assert all(text == f"{number}\n" * 20_000 for text in contents for number in [text.split()[0]])
    assert len(rounds) <= 2

    last = max(map(int, rounds), default=0)
    files = [{"path": f"d{n}/f", "content": f"{last}\n" * 20_000} for n in range(4)]
    said = asyncio.run(ask(tmp_path, call("apply_patchset", files=files)))
    expected = {0: NOT_DONE, 4: DONE}.get(contents.count(f"{last}\n" * 20_000), UNKNOWN)
    assert expected is said
    assert list(tmp_path.glob("d*/.holdfast*")) == []
