"""What is known of an agent, as a value, and what a command of it looks like when it is filled in.

Rule 1: a command is a list of arguments, never a line for a shell. `{id}`, `{prompt}`, `{fork}`, `{at}` and
`{folder}` (with `"` and `\\` escaped) stand for one value each; `{mode}`, `{model}` and `{hooks}`, standing
alone, for as many arguments as the profile says.
Rule 2: a mode that the agent cannot be told is refused before it is started (SPEC E1).
Rule 3: an id comes from the agent and is hostile: one that does not look like an id is none.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from holdfast.core.value import Value

Arguments = tuple[str, ...]
ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"


class Acp(Value, forbid_unknown_fields=True):
    command: Arguments
    program: str = ""  # an adapter's own; empty: the command's first word
    modes: Mapping[str, str] = {}  # ours to the agent's
    mode_env: Mapping[str, Mapping[str, str]] = {}
    unnamed: str = ""  # "its own": text without a message id is not the model's
    note: str = ""  # a piece of text like this is a note to the user, not the model's
    failed: str = ""  # one like this at the end: the turn failed, whatever it says
    fork_at: Mapping[str, object] = {}  # `_meta` of a fork up to the message `{at}`


class Commands(Value, forbid_unknown_fields=True):
    """Of a terminal or one-shot agent."""

    start: Arguments
    resume: Arguments = ()
    fork: Arguments = ()
    fork_at: Arguments = ()  # up to the message `{at}`
    go_on: Arguments = msgspec.field(default=(), name="continue")  # with its newest conversation
    model: Arguments = ()
    modes: Mapping[str, Arguments] = {}
    mode_env: Mapping[str, Mapping[str, str]] = {}
    format: str = ""  # which reader understands what it prints
    prompt: str = "argument"  # or stdin
    unknown: Arguments = ()  # words with which it says that it does not know an id
    hooks: Arguments = ()  # how it is told to say what it is at; `{hooks}` is a settings file
    hooks_env: Mapping[str, str] = {}  # the same, for one that is told by its environment
    interrupt: Arguments = ("Escape",)  # keys that stop its turn, in a terminal; none: it is ended
    busy: Arguments = ()  # words low on its screen while it works
    asks: Arguments = ()  # words there while it waits for a permission
    idle: Arguments = ()  # words there while it waits for a prompt; it may show them at work too
    errors: Arguments = ()  # how a row begins there that says why it stopped
    grant: Arguments = ("1",)  # keys that give a permission
    deny: Arguments = ("Escape",)

    @property
    def chooses_id(self) -> bool:
        """Whether we say which id it is to have."""
        return "{id}" in self.start

    @property
    def speaks(self) -> bool:
        """Whether it says itself what it is at."""
        return bool(self.hooks or self.hooks_env)


class Transcript(Value, forbid_unknown_fields=True):
    """Where the agent keeps its own record: the first root that is set, a pattern below it."""

    root: Arguments
    pattern: str
    table: str = ""  # of a SQLite database, whose `id` it is
    id: str = ID


class Quirk(Value, forbid_unknown_fields=True):
    name: str
    about: str
    since: str = ""
    below: str = ""

    def applies(self, version: str) -> bool:
        """To a version that is not known, every quirk does."""
        if not version:
            return True
        now = _numbers(version)
        early = bool(self.since) and now < _numbers(self.since)
        return not early and not (self.below and now >= _numbers(self.below))


class Profile(Value, forbid_unknown_fields=True):
    title: str
    program: str
    via: Arguments  # best first
    package: str = ""  # where npm has it
    login: str = ""  # how to let it in, for people
    keys: Arguments = ()  # variables any of which lets it in
    credentials: Arguments = ()  # files any of which does: it was logged in
    models: Arguments = ()  # names that it takes, to be offered
    version: Arguments = ("--version",)
    environ: Arguments = ()  # variables of the user's environment that it may have; `X_*` for all of X
    env: Mapping[str, str] = {}  # what it is given unless the user's environment says otherwise
    acp: Acp | None = None
    oneshot: Commands | None = None
    terminal: Commands | None = None
    transcript: Transcript | None = None
    quirks: tuple[Quirk, ...] = msgspec.field(default=(), name="quirk")
    disposable: bool = False
    max_age: str = ""

    @property
    def install(self) -> str:
        """How to get it, for people."""
        return f"npm install -g {self.package}" if self.package else ""

    def programs(self) -> dict[str, str]:
        """The program that each way needs."""
        ways = {"oneshot": self.oneshot, "terminal": self.terminal}
        found = {way: self.program for way, commands in ways.items() if commands}
        if self.acp is not None:
            found["acp"] = self.acp.program or self.acp.command[0]
        return {way: found[way] for way in self.via if way in found}

    def modes(self, via: str) -> frozenset[str]:
        commands = {"oneshot": self.oneshot, "terminal": self.terminal}.get(via)
        if commands is not None:
            return frozenset(commands.modes)
        return frozenset(self.acp.modes) if self.acp else frozenset()

    def may_have(self, name: str) -> bool:
        return any(
            name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
            for pattern in self.environ
        )


def looks_like_id(given: str, pattern: str = ID) -> bool:
    return re.fullmatch(pattern, given) is not None


def filled(
    command: Sequence[str], commands: Commands, values: Mapping[str, str], *, mode: str
) -> list[str]:
    """The command as it is run. `KeyError` for a mode that the agent cannot be told."""
    argv: list[str] = []
    for argument in command:
        if argument == "{mode}":
            argv += [_fill(a, values) for a in commands.modes[mode]]
        elif argument == "{hooks}":
            file = values.get("hooks", "")
            argv += [a.replace("{hooks}", file) for a in commands.hooks] if file else []
        elif argument == "{model}":
            model = values.get("model", "")
            argv += [a.replace("{model}", model) for a in commands.model] if model else []
        else:
            argv.append(_fill(argument, values))
    return argv


def without_prompt(command: Sequence[str]) -> list[str]:
    """The command for an agent that is to wait: neither the prompt nor the flag before it."""
    kept: list[str] = []
    for argument in command:
        if argument == "{prompt}" and kept and kept[-1].startswith("--"):
            kept.pop()
        if "{prompt}" not in argument:
            kept.append(argument)
    return kept


def _fill(argument: str, values: Mapping[str, str]) -> str:
    """In one go: a value that contains another's name is not filled in again."""
    return re.sub(
        r"\{(id8|id|prompt|fork|folder|at)\}", lambda found: values.get(found[1], ""), argument
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])
