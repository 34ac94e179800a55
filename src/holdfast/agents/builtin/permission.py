"""What a call may do without asking (SPEC B11).

Rule 1: this is one table: permission mode by kind of call. A mode nobody knows is the strictest.

    kind       read-only  ask    edits               full
    looking    allow      allow  allow               allow    pure; update_plan; ask_user; note
    files      deny       ask    allow               allow    write, edit, apply_patchset, git_commit
    shell      deny       ask    sandbox: allow      allow
                                 none: ask
    delegate   deny       ask    allow               allow    each call of the coder is looked at itself
    the rest   deny       ask    ask                 allow

Rule 2: a question is about the exact call. What "always" would cover is `program`: for a command the
program's name if the command is nothing but that program with plain words, otherwise the whole line;
for other tools the tool. Nothing is compared by its beginning.
Rule 3: programs that run other programs are asked about by the whole line: "always" for `env` would be
for everything.
Rule 4: what is shown is what will be run, with nothing in it that a screen hides.
"""

import re
import shlex
from enum import StrEnum

from holdfast.agents.builtin.files import Refused
from holdfast.agents.builtin.shell import Shell
from holdfast.agents.builtin.tools_kind import Tool
from holdfast.core.briefing import one_line
from holdfast.core.redact import redact_arguments
from holdfast.core.session import EffectClass
from holdfast.core.value import Value


class Allow(Value):
    pass


class Ask(Value):
    text: str
    program: str  # what "always" is remembered for


class Deny(Value):
    text: str


Verdict = Allow | Ask | Deny


class Kind(StrEnum):
    LOOKING = "looking"
    FILES = "files"
    SHELL = "shell"
    DELEGATE = "delegate"
    REST = "rest"


_BY_NAME = {
    "update_plan": Kind.LOOKING,
    "ask_user": Kind.LOOKING,
    "note": Kind.LOOKING,
    "write": Kind.FILES,
    "edit": Kind.FILES,
    "apply_patchset": Kind.FILES,
    "git_commit": Kind.FILES,
    "shell": Kind.SHELL,
    "delegate": Kind.DELEGATE,
}
_FREE = {
    "read-only": frozenset({Kind.LOOKING}),
    "ask": frozenset({Kind.LOOKING}),
    "edits": frozenset({Kind.LOOKING, Kind.FILES, Kind.DELEGATE}),
    "full": frozenset(Kind),
}
_MAY_ASK = frozenset({"ask", "edits"})
_PLAIN_WORDS = re.compile(r"[\w./:=,+@%^-]+( +[\w./:=,+@%^-]+)*", re.ASCII)
_RUN_OTHERS = frozenset(
    [
        "sh",
        "bash",
        "zsh",
        "dash",
        "fish",
        "env",
        "sudo",
        "doas",
        "su",
        "xargs",
        "nohup",
        "time",
        "timeout",
        "nice",
        "setsid",
        "exec",
        "eval",
        "command",
        "find",
        "ssh",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "watch",
        "strace",
        "busybox",
        ".",
        "source",
    ]
)


def verdict(
    mode: str, tool: Tool, arguments: str, *, sandbox: bool, always: tuple[str, ...] = ()
) -> Verdict:
    kind = _kind(tool)
    if kind in _FREE.get(mode, _FREE["read-only"]):
        return Allow()
    if mode not in _MAY_ASK:
        return Deny(
            text=f"{tool.name} is not allowed: this session may only look (mode read-only)."
        )
    if mode == "edits" and kind is Kind.SHELL and sandbox:
        return Allow()
    try:
        asked = tool.decode(arguments)
    except Refused:
        return Allow()  # it will not run: the model is told what is wrong with it
    program, text = _question(tool, asked, arguments)
    if program in always:
        return Allow()
    why = "\nThere is no sandbox on this machine." if kind is Kind.SHELL and not sandbox else ""
    return Ask(text=f"{text}{why}", program=program)


def _kind(tool: Tool) -> Kind:
    if tool.effect is EffectClass.PURE:
        return Kind.LOOKING
    return _BY_NAME.get(tool.name, Kind.REST)


def _question(tool: Tool, asked: object, arguments: str) -> tuple[str, str]:
    if isinstance(asked, Shell):
        return program_of(asked.command), f"Run: {one_line(asked.command)}"
    shown = redact_arguments(arguments, secrets=frozenset())
    return f"tool:{tool.name}", f"Use {tool.name}: {one_line(shown)}"


def program_of(command: str) -> str:
    """What "always" would cover: a program, or this line and no other."""
    line = f"line:{command}"
    if not _PLAIN_WORDS.fullmatch(command):
        return line
    first = shlex.split(command)[0]
    if "=" in first or first.rpartition("/")[2] in _RUN_OTHERS:
        return line
    return f"program:{first}"
