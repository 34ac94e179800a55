"""The tools as a model meets them: their names, their arguments, their answers."""

# spec: B3, B6, M1

import asyncio
import json
import shutil
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.builtin import tools_search
from holdfast.agents.builtin.shell import described
from holdfast.agents.builtin.tools import answer, registry
from holdfast.agents.builtin.tools_box import Box
from holdfast.agents.builtin.tools_kind import Tool, ToolResult, in_thread
from holdfast.core.ids import CallId
from holdfast.core.session import Call, EffectClass
from holdfast.runtimes.local import Finished
from tests.agents.builtin.rig import RealGit, context, repository, use

# Exactly as the specification has them; a question mark is a field that may be left out.
SPEC = {
    "read": "path offset? limit?",
    "write": "path content",
    "edit": "path old new all?",
    "apply_patchset": "files",
    "list": "path?",
    "search": "pattern path? glob?",
    "shell": "command timeout?",
    "git_status": "",
    "git_diff": "path?",
    "git_commit": "message paths?",
    "update_plan": "items",
    "ask_user": "question options?",
    "delegate": "task context?",
}
EFFECTS = {
    EffectClass.PURE: {"read", "list", "search", "git_status", "git_diff"},
    EffectClass.IDEMPOTENT: {"update_plan", "ask_user"},
    EffectClass.PROBEABLE: {"write", "edit", "apply_patchset", "git_commit"},
    EffectClass.UNSAFE: {"shell", "delegate"},
}


def test_the_tools_are_those_of_the_specification():
    found = {}
    for tool in registry().values():
        schema = tool.schema()
        required = schema.get("required", [])
        names = (name if name in required else f"{name}?" for name in schema["properties"])
        found[tool.name] = " ".join(names)

    assert SPEC == found


def test_each_tool_declares_its_effect():
    by_name = {tool.name: tool.effect for tool in registry().values()}

    assert by_name == {name: effect for effect, names in EFFECTS.items() for name in names}


def test_a_schema_is_one_object_without_references():
    for tool in registry().values():
        schema = tool.schema()
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(schema) and tool.description
    files = registry()["apply_patchset"].schema()["properties"]["files"]
    assert files["items"]["required"] == ["path", "content"]


BAD = [
    ("read", "{", "read: the arguments are not valid JSON"),
    ("read", '"a.txt"', "read: Expected `object`, got `str`. It takes {path, offset?, limit?}."),
    ("read", "{}", "read: Object missing required field `path`. It takes {path, offset?, limit?}."),
    ("read", '{"path": 1}', "read: Expected `str`, got `int` - at `$.path`."),
    ("read", '{"path": "a", "line": 1}', "read: Object contains unknown field `line`."),
    ("read", '{"path": "a", "offset": 0}', "read: Expected `int` >= 1 - at `$.offset`."),
    ("read", '{"path": "\\ud800"}', "read: the arguments are not valid JSON"),
    ("read", '{"path": "\ud800"}', "read: the arguments are not valid JSON"),
    ("read", "[" * 100_000, "read: Expected `object`, got `array`."),
    ("write", '{"path": "x", "content": null}', "write: Expected `str`, got `null`"),
    ("shell", '{"command": "true", "timeout": 1e9}', "shell: Expected `float` <= 3600.0"),
    ("shell", '{"command": "a\\u0000b"}', "A command cannot hold a NUL character."),
    ("apply_patchset", '{"files": []}', "apply_patchset: Expected `array` of length >= 1"),
    ("apply_patchset", '{"files": [{"path": "x"}]}', "missing required field `content` - at"),
    ("update_plan", '{"items": [{"text": "x", "state": "?"}]}', "Invalid enum value '?'"),
    ("git_commit", '{"message": " "}', "The commit message is empty."),
    ("git_status", "", "This folder is not a git repository."),
    ("raed", "{}", "There is no tool 'raed'. Did you mean read? The tools are: read, list,"),
    ("delegate", '{"task": "x"}', "delegate cannot be used here."),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), BAD, ids=range(len(BAD)))
async def test_what_is_wrong_with_a_call_is_told_in_one_sentence(
    tmp_path, name, arguments, expected
):
    with context(tmp_path) as ctx:
        done = await answer(registry(), name, arguments, ctx)

    assert done.failed and expected in done.output
    assert list(tmp_path.iterdir()) == []


@given(st.sampled_from(sorted(SPEC)), st.one_of(st.text(), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(
        ["path", "content", "files", "old", "new", "command", "items", "x"]), inner),
    max_leaves=5,
).map(json.dumps)))  # fmt: skip
def test_no_arguments_make_a_tool_raise(tmp_path_factory, name, arguments):
    folder = tmp_path_factory.getbasetemp()
    tool = registry()[name]
    with context(folder) as ctx:
        assert isinstance(tool.files(arguments, ctx.tree), tuple)


async def test_files_that_would_change_are_known_beforehand(tmp_path):
    tools = registry()
    patch = {"files": [{"path": "./a", "content": "x"}, {"path": "b/../c", "content": None}]}
    with context(tmp_path) as ctx:
        assert tools["write"].files('{"path": "./x/y", "content": ""}', ctx.tree) == ("x/y",)
        assert tools["apply_patchset"].files(json.dumps(patch), ctx.tree) == ("a", "c")
        assert tools["shell"].files('{"command": "rm x"}', ctx.tree) == ()
        assert tools["write"].files('{"path": "../x", "content": ""}', ctx.tree) == ()


async def test_files_are_written_read_edited_and_listed(tmp_path):
    with context(tmp_path) as ctx:
        wrote = await use(ctx, "write", path="d/x.py", content="a = 1\nb = 2\n")
        edited = await use(ctx, "edit", path="d/x.py", old="b = 2", new="b = 3")
        again = await use(ctx, "edit", path="d/x.py", old="b = 2", new="b = 3")
        read = await use(ctx, "read", path="d/x.py")
        listed = await use(ctx, "list")

    assert ("Wrote d/x.py: 2 lines, 12 bytes.", ("d/x.py",)) == (wrote.output, wrote.files)
    assert ("Edited d/x.py: one place, line 2.", ("d/x.py",)) == (edited.output, edited.files)
    assert again.failed and again.files == () and "Nearest: line 2: b = 3" in again.output
    assert read.output.startswith("     1\ta = 1\n     2\tb = 3\n(lines 1 to 2 of 2, sha ")
    assert listed.output == "d/"


async def test_a_patchset_is_all_or_none(tmp_path):
    (tmp_path / "a").write_text("a")
    with context(tmp_path) as ctx:
        files = [{"path": "a", "content": None}, {"path": "../b", "content": "x"}]
        refused = await use(ctx, "apply_patchset", files=files)
        kept = (tmp_path / "a").exists()
        files[1]["path"] = "b"
        done = await use(ctx, "apply_patchset", files=files)

    assert refused.failed and kept
    assert ("Removed a\nWrote b", ("a", "b")) == (done.output, done.files)
    assert [p.name for p in tmp_path.iterdir()] == ["b"]


@pytest.fixture(params=["ripgrep", "our own walk"])
def searcher(request, monkeypatch):
    if request.param == "ripgrep" and not shutil.which("rg"):
        pytest.skip("missing: ripgrep")
    if request.param != "ripgrep":
        monkeypatch.setattr(tools_search.shutil, "which", lambda _: None)


async def test_search_finds_by_pattern_folder_and_glob(searcher, tmp_path):
    tree = repository(
        tmp_path / "r",
        {"a.py": "def go():\n", "b.txt": "go\n", "d/c.py": "x\ngo(1)\n", "--x.py": "go\n"},
    )
    (tree / "out").symlink_to(tmp_path)
    (tmp_path / "outside.py").write_text("go\n")
    with context(tree) as ctx:
        everywhere = await use(ctx, "search", pattern=r"\bgo\b")
        by_glob = await use(ctx, "search", pattern="go", glob="*.txt")
        below = await use(ctx, "search", pattern="go", path="d")
        one = await use(ctx, "search", pattern="go", path="d/c.py")
        nothing = await use(ctx, "search", pattern="nowhere")
        bad = await use(ctx, "search", pattern="(")
        outside = await use(ctx, "search", pattern="go", path="out")
        option = await use(ctx, "search", pattern="--files")

    expected = {"a.py:1:def go():", "b.txt:1:go", "d/c.py:2:go(1)", "--x.py:1:go"}
    assert expected == set(everywhere.output.splitlines())
    assert ["b.txt:1:go", "d/c.py:2:go(1)", "d/c.py:2:go(1)"] == [
        by_glob.output,
        below.output,
        one.output,
    ]
    assert ("No match.", False) == (nothing.output, nothing.failed)
    assert bad.failed and "The search failed" in bad.output
    assert outside.failed and "symbolic link" in outside.output
    assert option.output == "No match."


async def test_search_is_bounded(searcher, tmp_path):
    for n in range(5):
        (tmp_path / f"f{n}").write_text("needle\n" * 100 + "needle" + "y" * 10_000)
    with context(tmp_path) as ctx:
        done = await use(ctx, "search", pattern="needle")

    assert done.output.splitlines()[-1].startswith("(more than 200 matches")
    assert len(done.output) < 20_000


async def test_a_pattern_that_never_ends_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(tools_search.shutil, "which", lambda _: None)
    monkeypatch.setattr(tools_search, "SECONDS", 0.5)
    (tmp_path / "x").write_text("a" * 60 + "!\n")
    with context(tmp_path) as ctx:
        done = await use(ctx, "search", pattern="(a+)+$")

    assert done.failed and "The search took more than" in done.output


async def test_git_is_asked_through_what_was_passed_in(tmp_path):
    tree = repository(tmp_path / "r")
    (tree / "a.txt").write_text("two\n")
    with context(tree, real_git=RealGit(tree)) as ctx:
        status = await use(ctx, "git_status")
        diff = await use(ctx, "git_diff", path="a.txt")
        commit = await use(ctx, "git_commit", message="second", paths=["a.txt"])
        again = await use(ctx, "git_commit", message="third")
        after = await answer(registry(), "git_status", "", ctx)

    assert (" M a.txt", False) == (status.output, status.failed)
    assert "+two" in diff.output
    assert ("Committed.", False, True) == (commit.output, commit.failed, again.failed)
    assert after.output == "Nothing has changed since HEAD."


async def test_a_command_tells_how_it_ended(tmp_path):
    with context(tmp_path) as ctx:
        good = await use(ctx, "shell", command="echo hi")
        bad = await use(ctx, "shell", command="echo no >&2; exit 3")
        silent = await use(ctx, "shell", command="true")
        slow = await use(ctx, "shell", command="echo begun; sleep 60", timeout=3)
        bytes_ = await use(ctx, "shell", command="printf 'a\\000\\377b'")

    assert [("hi", False), ("no\n(exit code 3)", True), ("(no output)", False)] == [
        (r.output, r.failed) for r in (good, bad, silent)
    ]
    assert slow.failed and slow.output.startswith("begun\n(timed out after 3 s")
    assert bytes_.output == "a\ufffd\ufffdb"


def test_a_signal_is_named():
    assert "(ended by SIGKILL)" == described(Finished(signal=9), 1).output
    assert described(Finished(signal=9), 1).failed


async def test_a_cancelled_write_is_over_when_the_cancel_is():
    began, go, done = threading.Event(), threading.Event(), []

    def write():
        began.set()
        go.wait(60)
        done.append("written")

    task = asyncio.create_task(in_thread(write))
    await asyncio.to_thread(began.wait, 60)
    task.cancel()
    asyncio.get_running_loop().call_later(0.02, go.set)
    with pytest.raises(asyncio.CancelledError):
        await task

    assert done == ["written"]


async def test_a_tool_of_ones_own_is_one_more_row(tmp_path):
    async def count(arguments, ctx):
        return ToolResult(output=str(len(arguments.path)))

    own = Tool(
        name="count",
        description="Counts.",
        arguments=registry()["list"].arguments,
        effect=EffectClass.UNSAFE,
        function=count,
    )
    with context(tmp_path) as ctx:
        done = await answer({**registry(), "count": own}, "count", '{"path": "abc"}', ctx)

    assert done.output == "3"


async def test_the_box_is_what_the_loop_asks_for(tmp_path):
    call = Call(id=CallId("1"), name="write", arguments='{"path": "x", "content": "y"}')
    with context(tmp_path) as ctx:
        box = Box(registry(), ctx, mode="edits")
        ran = await box.run(call)

        assert set(SPEC) == {schema.name for schema in box.schemas()}
        assert (EffectClass.PROBEABLE, ("x",)) == (
            box.effect("write"),
            box.files("write", call.arguments),
        )
        assert box.verdict(call, ()) is None and not ran.failed
        assert "There is no tool" in box.verdict(Call(id=CallId("2"), name="nope"), ()).text
        shell = Call(id=CallId("3"), name="shell", arguments='{"command": "ls -l"}')
        assert box.verdict(shell, ()).program == "program:ls"
        assert Box(registry(), ctx, mode="read-only").verdict(call, ()) is not None
