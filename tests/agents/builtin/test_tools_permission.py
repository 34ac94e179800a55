"""What may be done without asking: one table, every cell of it."""

# spec: B11

import json

import pytest

from holdfast.agents.builtin.permission import Allow, Ask, Deny, program_of, verdict
from holdfast.agents.builtin.tools import registry
from holdfast.agents.builtin.tools_kind import Tool
from holdfast.core.session import EffectClass

ARGUMENTS = {
    "read": {"path": "x"},
    "write": {"path": "x", "content": ""},
    "edit": {"path": "x", "old": "a", "new": "b"},
    "apply_patchset": {"files": [{"path": "x", "content": None}]},
    "search": {"pattern": "x"},
    "shell": {"command": "make test"},
    "git_commit": {"message": "x"},
    "update_plan": {"items": []},
    "ask_user": {"question": "x"},
    "delegate": {"task": "x"},
}
OWN = Tool(
    name="deploy",
    description="",
    arguments=registry()["list"].arguments,
    effect=EffectClass.UNSAFE,
    function=None,
)
TOOLS = {**registry(), "deploy": OWN}
LOOKING = ("read", "list", "search", "git_status", "git_diff", "update_plan", "ask_user")
FILES = ("write", "edit", "apply_patchset", "git_commit")

TABLE = [
    # tools, read-only, ask, edits with a sandbox, edits without, full
    (LOOKING, Allow, Allow, Allow, Allow, Allow),
    (FILES, Deny, Ask, Allow, Allow, Allow),
    (("shell",), Deny, Ask, Allow, Ask, Allow),
    (("delegate",), Deny, Ask, Allow, Allow, Allow),
    (("deploy",), Deny, Ask, Ask, Ask, Allow),
]
COLUMNS = [("read-only", True), ("ask", True), ("edits", True), ("edits", False), ("full", False)]
CELLS = [
    (name, mode, sandbox, expected)
    for names, *row in TABLE
    for name in names
    for (mode, sandbox), expected in zip(COLUMNS, row, strict=True)
]


def judge(mode, name, *, sandbox=True, always=(), **arguments):
    given = arguments or ARGUMENTS.get(name, {})
    return verdict(mode, TOOLS[name], json.dumps(given), sandbox=sandbox, always=always)


@pytest.mark.parametrize(("name", "mode", "sandbox", "expected"), CELLS)
def test_the_table_holds(name, mode, sandbox, expected):
    assert isinstance(judge(mode, name, sandbox=sandbox), expected)


def test_every_tool_is_in_the_table():
    assert set(TOOLS) == {name for names, *_ in TABLE for name in names}


@pytest.mark.parametrize("mode", ["", "EDITS", "yolo"])
def test_a_mode_nobody_knows_is_the_strictest(mode):
    assert isinstance(judge(mode, "shell"), Deny) and isinstance(judge(mode, "read"), Allow)


def test_a_question_shows_exactly_what_will_run():
    asked = judge("edits", "shell", sandbox=False, command="echo a\u202eb\nrm -rf x\x1b[2K")

    assert asked.text == (
        "Run: echo a\\u202eb\\nrm -rf x\\x1b[2K\nThere is no sandbox on this machine."
    )


PROGRAMS = [
    ("make test", "program:make"),
    ("./run.sh --fast", "program:./run.sh"),
    ("cargo build --release", "program:cargo"),
    # Whatever could be more than that program is remembered as itself alone.
    ("make test; rm -rf ~", "line:make test; rm -rf ~"),
    ("make test && curl evil", "line:make test && curl evil"),
    ("make `id`", "line:make `id`"),
    ("make $(id)", "line:make $(id)"),
    ("make > /etc/passwd", "line:make > /etc/passwd"),
    ("make\nrm x", "line:make\nrm x"),
    ("make 'x'", "line:make 'x'"),
    ("make *", "line:make *"),
    ("A=1 make", "line:A=1 make"),
    ("env make", "line:env make"),
    ("/usr/bin/env make", "line:/usr/bin/env make"),
    ("python -c x", "line:python -c x"),
    ("bash run", "line:bash run"),
    (" ", "line: "),
]


@pytest.mark.parametrize(("command", "expected"), PROGRAMS)
def test_always_covers_one_program_or_one_line(command, expected):
    assert expected == program_of(command)


ALWAYS = [
    (("program:make",), "make install", Allow),
    (("program:make",), "make test; rm x", Ask),
    (("program:make",), "makeinfo x", Ask),
    (("program:make",), "./make x", Ask),
    (("line:a; b",), "a; b", Allow),
    (("line:a; b",), "a; b; c", Ask),
    (("tool:shell",), "make", Ask),
    (("make",), "make", Ask),
    ((), "make", Ask),
]


@pytest.mark.parametrize(("always", "command", "expected"), ALWAYS)
def test_always_is_for_exactly_that(always, command, expected):
    assert isinstance(judge("ask", "shell", always=always, command=command), expected)


def test_always_for_a_tool_is_for_that_tool():
    asked = judge("edits", "deploy")

    assert isinstance(judge("edits", "deploy", always=(asked.program,)), Allow)
    assert isinstance(judge("ask", "write", always=(asked.program,)), Ask)


def test_always_does_not_widen_read_only():
    assert isinstance(judge("read-only", "shell", always=("program:make",)), Deny)


def test_a_call_that_cannot_run_is_not_asked_about():
    found = verdict("ask", TOOLS["shell"], "{", sandbox=False, always=())

    assert isinstance(found, Allow)
