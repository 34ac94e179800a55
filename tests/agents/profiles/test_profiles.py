"""Agents are data: every profile that ships is sound, and a user's own is checked as strictly."""

import os
import stat
from pathlib import Path

import pytest

from holdfast.agents.profiles.installed import Installed
from holdfast.agents.profiles.load import Profiles
from holdfast.agents.profiles.profile import Quirk, filled, looks_like_id
from holdfast.client import keys
from holdfast.runtimes.local import LocalRuntime

SHIPPED = {"amp", "auggie", "claude", "codex", "copilot", "gemini", "opencode", "qwen"}
MINE = {"oneshot": {"start": ["mine"], "modes": {"full": []}}}


def mistake(table):
    return Profiles({"mine": table}, "config.toml").mistakes["mine"]


def test_every_agent_that_ships_has_a_sound_profile():  # spec: E1 E2
    profiles = Profiles({}, "")
    assert profiles.mistakes == {}
    assert set(profiles) == SHIPPED
    for _, known in profiles.all():
        assert known.environ and known.login
        assert set(known.programs()) <= {"acp", "oneshot", "terminal"}
        for commands in (known.oneshot, known.terminal):
            if commands is not None:
                assert commands.modes.keys() <= {"read-only", "ask", "edits", "full"}
                assert commands.start[0] == commands.resume[0] == known.program
                assert any("{id}" in argument for argument in commands.resume)
        if known.oneshot is not None:
            assert "ask" not in known.oneshot.modes  # nobody is there to be asked


def test_a_command_is_filled_in_as_a_list_of_arguments():  # spec: E4
    claude = Profiles({}, "").get("claude").oneshot
    argv = filled(claude.resume, claude, {"id": "abc", "model": "opus"}, mode="edits")
    assert argv[-6:] == ["--resume", "abc", "--permission-mode", "acceptEdits", "--model", "opus"]
    assert "--model" not in filled(claude.resume, claude, {"id": "abc"}, mode="edits")
    with pytest.raises(KeyError):
        filled(claude.resume, claude, {"id": "abc"}, mode="ask")


def test_a_value_is_not_filled_in_twice():
    copilot = Profiles({}, "").get("copilot").oneshot
    argv = filled(copilot.resume, copilot, {"prompt": "{id}; rm -rf /", "id": "x"}, mode="full")
    assert "--prompt={id}; rm -rf /" in argv


@pytest.mark.parametrize("hostile", ["", "../../etc", "-rf", "a b", "a/b", "*", "x" * 129])
def test_what_does_not_look_like_an_id_is_none(hostile):
    assert not looks_like_id(hostile)


def test_the_configuration_adds_and_changes_agents():  # spec: E1
    changes = {"mine": MINE, "claude": {"env": {"A": "b"}, "oneshot": {"modes": {"full": ["-x"]}}}}
    profiles = Profiles(changes, "config.toml")
    assert profiles.mistakes == {}
    assert profiles.get("mine").via == ("oneshot",)
    assert profiles.get("claude").oneshot.modes["full"] == ("-x",)
    assert profiles.get("claude").oneshot.modes["edits"] == ("--permission-mode", "acceptEdits")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({**MINE, "progam": "x"}, "'progam' is not a key of a profile. Did you mean 'program'?"),
        (
            {"oneshot": {**MINE["oneshot"], "reusme": ["x"]}},
            "'oneshot.reusme' is not a key of a profile. Did you mean 'resume'?",
        ),
        ({**MINE, "via": ["smoke"]}, "via: 'smoke' is no way to run an agent"),
        ({"title": "x"}, "needs at least one of [acp], [oneshot], [terminal]"),
        ({**MINE, "program": 7}, "Expected 'str', got 'int' - at 'program'"),
        ({"oneshot": {"start": ["x"]}}, "oneshot.modes must name at least one mode"),
        (7, "must be a table, not 7"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_spoils_no_other_agent(table, said):  # spec: E1 M1
    assert mistake(table).startswith("config.toml, [agents.mine]")
    assert said in mistake(table)
    assert "claude" in set(Profiles({"mine": table}, "config.toml"))


def test_the_command_line_lends_what_the_profiles_name():  # spec: B1
    named = {pattern for _, known in Profiles({}, "").all() for pattern in known.environ}
    assert [name for name in sorted(named) if not keys({name.replace("*", "X"): "1"})] == []
    assert keys({"PASSWORD": "x", "PATH": "/bin"}) == {}


def test_a_quirk_belongs_to_versions():
    quirk = Quirk(name="q", about="", since="1.2", below="2.1.300")
    assert [quirk.applies(v) for v in ("1.1.9", "1.2.0", "2.1.299", "2.1.300", "")] == [
        False,
        True,
        True,
        False,
        True,
    ]


PROGRAM = """#!/bin/sh
echo x >> "$(dirname "$0")/asked"
case "$1" in
  --version) echo "mine 3.2.1 (build 7)";;
  --help) echo "  --go   goes"; echo "  --resume ID";;
esac
"""


async def test_what_is_installed_is_asked_once_for_each_file(tmp_path, monkeypatch):  # spec: E1
    program = tmp_path / "mine"
    program.write_text(PROGRAM)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    commands = {
        "start": ["mine", "--go"],
        "resume": ["mine", "--go", "--resume", "{id}", "--fast"],
        "modes": {"full": []},
    }
    profiles = Profiles({"mine": {"oneshot": commands}, "bad": 1}, "config.toml")
    installed = Installed(profiles, LocalRuntime().run, tmp_path / "agents.json")
    for _ in range(2):
        rows = {row.name: row for row in await installed.rows()}
        mine = rows["mine"]
        assert (mine.version, mine.via, mine.missing_flags) == ("3.2.1", ("oneshot",), ("--fast",))
        assert mine.path == str(program)
        assert rows["claude"].problem == "not installed"
        assert rows["claude"].hint == "npm install -g @anthropic-ai/claude-code"
        assert "must be a table" in rows["bad"].problem
    assert len((tmp_path / "asked").read_text().split()) == 2  # the version, the help
    assert Path(tmp_path / "agents.json").stat().st_mode & 0o077 == 0
    program.write_text(PROGRAM.replace("3.2.1", "3.2.10"))
    assert {r.name: r.version for r in await installed.rows()}["mine"] == "3.2.10"


def test_codex_trusts_a_folder_only_where_it_may_do_everything():  # spec: E1
    terminal = Profiles({}, "config.toml").get("codex").terminal
    values = {"id": "i", "prompt": "p", "folder": 'a\\"b'}
    full, asks = (filled(terminal.start, terminal, values, mode=mode) for mode in ("full", "ask"))
    assert 'projects={"a\\"b"={trust_level="trusted"}}' in full
    assert not any("trust" in argument for argument in asks)
