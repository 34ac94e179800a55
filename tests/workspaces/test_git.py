"""The one caller of git: what goes in, what comes out, and how it ends."""

# spec: H3

import ast
from pathlib import Path

import pytest

import holdfast
from holdfast.workspaces.errors import GitFailed, GitMissing, TooMuch
from holdfast.workspaces.git import Git

SOURCE = Path(holdfast.__file__).parent
STARTERS = {"create_subprocess_exec", "create_subprocess_shell", "Popen", "system", "popen"}


def fake(folder: Path, body: str) -> Git:
    program = folder / "git"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return Git(program=str(program))


def test_no_other_module_of_ours_starts_a_process():
    starting = {
        path.name
        for path in (SOURCE / "workspaces").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in STARTERS
    }
    assert starting == {"git.py"}


async def test_a_failure_has_the_command_the_code_and_the_first_lines(tmp_path):
    git = fake(tmp_path, "for n in 1 2 3 4 5 6 7; do echo line $n >&2; done; exit 3")
    with pytest.raises(GitFailed) as failed:
        await git.run("--git-dir=x", "status", "-z", cwd=tmp_path)
    assert (failed.value.command, failed.value.code) == ("status", 3)
    assert "line 5" in str(failed.value) and "line 6" not in str(failed.value)


async def test_too_long_an_answer_is_an_error_or_is_cut(tmp_path):
    git = fake(tmp_path, "exec yes")
    with pytest.raises(TooMuch):
        await git.run("log", cwd=tmp_path, cap=1 << 20)
    cut = await git.run("log", cwd=tmp_path, cap=1 << 20, cut=True)
    assert cut.cut and len(cut.out) == 1 << 20


async def test_a_large_input_and_a_large_output_do_not_wait_for_each_other(tmp_path):
    big = b"x" * (8 << 20)
    assert (await fake(tmp_path, "exec cat").run("x", cwd=tmp_path, stdin=big)).out == big


async def test_a_git_that_does_not_read_its_input_is_no_error(tmp_path):
    done = await fake(tmp_path, "exit 0").run("x", cwd=tmp_path, stdin=b"x" * (8 << 20))
    assert done.code == 0


async def test_the_environment_is_ours_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_TRACE", "1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    seen = (await fake(tmp_path, "exec env").run("x", cwd=tmp_path)).text
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert "GIT_TRACE" not in names and "secret" not in seen
    assert {"HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"} <= set(seen.splitlines())


async def test_no_git_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitMissing, match="not installed"):
        await Git().run("status", cwd=tmp_path)


async def test_a_git_in_the_current_folder_is_not_taken(tmp_path, monkeypatch):
    fake(tmp_path, "touch sprung")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".:")
    with pytest.raises(GitMissing):
        await Git().run("status", cwd=tmp_path)
