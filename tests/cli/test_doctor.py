"""`doctor` tells what works, tries it, and changes nothing; `completion` knows commands and ids."""

# spec: I1 I3 B11 M1

import json
import os
import subprocess

import pytest

from tests.cli.desk import HOLD, QUICK

SECRET = "sk-never-to-be-seen"  # noqa: S105  nobody's


def looked_over(user, **environ):
    done = subprocess.run(
        [HOLD, "doctor", "--json"],
        env={**user.environ, **environ},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    found = json.loads(done.stdout)
    return done.returncode, {check["name"]: check for check in found["checks"]}


def test_without_anything_it_makes_nothing(user):
    code, rows = looked_over(user)
    assert 0 == code
    assert not user.home.exists()
    assert {"python", "config", "daemon", "home", "space", "store", "git"} <= rows.keys()
    assert ("note", "ok") == (rows["daemon"]["state"], rows["git"]["state"])
    assert rows["sandbox"]["state"] in ("ok", "warn")


def test_it_is_told_in_words_too(user):
    done = user.hold("doctor")
    assert (0, True) == (done.returncode, "All that is needed works." in done.stdout)
    assert "\x1b" not in done.stdout


def test_a_running_daemon_and_its_store_are_looked_at(user):
    user.run(QUICK)
    code, rows = looked_over(user)
    assert 0 == code
    assert f"pid {user.pid}" in rows["daemon"]["told"]
    assert "whole, sessions: 1" in rows["store"]["told"]
    assert ("ok", True) == (rows["home"]["state"], "ms for a write" in rows["fsync"]["told"])


def test_another_version_that_runs_is_said(user):
    user.hold("up", "--no-open")
    patched = "import holdfast.config as c; c.VERSION = '9.9'; import sys; sys.argv[0] = 'hold'\n"
    patched += "from holdfast.cli.main import main; sys.exit(main())"
    python = HOLD.parent / "python"
    done = subprocess.run(
        [python, "-c", patched, "doctor", "--json"],
        env=user.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    [row] = [c for c in json.loads(done.stdout)["checks"] if c["name"] == "daemon"]
    assert ("warn", True) == (row["state"], "installed is 9.9" in row["told"])


def test_a_damaged_store_is_bad(user):
    user.hold("up", "--no-open")
    user.hold("down")
    (user.home / "journal.db").write_bytes(b"this is no database at all" * 1000)
    code, rows = looked_over(user)
    assert (1, "bad") == (code, rows["store"]["state"])
    assert "backup" in rows["store"]["hint"]
    assert 1 == user.hold("doctor").returncode


def test_a_mistake_in_the_config_is_named_with_its_line(user):
    user.home.mkdir(mode=0o700)
    (user.home / "config.toml").write_text('\nmodell = "x"\n')
    code, rows = looked_over(user)
    assert (1, True) == (code, "config.toml, line 2: 'modell'" in rows["config"]["told"])
    (user.home / "config.toml").write_text("\n\nmode = 7\n")
    assert "config.toml, line 3: mode must be text, not 7" in looked_over(user)[1]["config"]["told"]


def test_a_home_that_is_open_to_others_is_bad(user):
    user.home.mkdir(mode=0o755)
    code, rows = looked_over(user)
    assert (1, True) == (code, "chmod 700" in rows["home"]["told"])


def test_keys_are_named_and_never_said(user):
    _, rows = looked_over(user, ANTHROPIC_API_KEY=SECRET)
    assert "ANTHROPIC_API_KEY is set" == rows["anthropic"]["told"]
    assert SECRET not in json.dumps(rows)


def test_without_git_it_is_bad(user):
    empty = user.folder / "empty"
    empty.mkdir()
    code, rows = looked_over(user, PATH=str(empty))
    assert (1, "bad", "note") == (code, rows["git"]["state"], rows["tmux"]["state"])


def test_an_agent_without_a_login_is_said_with_the_way_to_one(user):  # spec: E1
    program = user.folder / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho codex-cli 9.8.7 --json --skip-git-repo-check\n")
    program.chmod(0o755)
    path = f"{program.parent}:{user.environ['PATH']}"
    _, rows = looked_over(user, PATH=path, OPENAI_API_KEY="", CODEX_API_KEY="")
    assert "no login of it is known here" in rows["codex"]["told"]
    assert (rows["codex"]["state"], rows["codex"]["hint"][:11]) == ("note", "codex login")
    login = user.folder / ".codex" / "auth.json"
    login.parent.mkdir()
    login.write_text("{}")
    _, rows = looked_over(user, PATH=path, OPENAI_API_KEY="", CODEX_API_KEY="")
    assert "login" not in rows["codex"]["told"] + rows["codex"].get("hint", "")


def test_a_profile_with_a_mistake_is_bad_and_names_its_place(user):
    user.home.mkdir(mode=0o700)
    (user.home / "config.toml").write_text("[agents.claude]\nnonsense = 1\n")
    code, rows = looked_over(user)
    assert (1, "bad") == (code, rows["claude"]["state"])
    assert "[agents.claude]" in rows["claude"]["told"]


# --- completion -----------------------------------------------------------------------------------


def complete(user, *words):
    environ = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [HOLD],
        env={**user.environ, **environ, "_HOLD_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_own(regular, shell):
    done = regular.hold("completion", shell)
    assert (0, True) == (done.returncode, "_HOLD_COMPLETE" in done.stdout)
    assert "holdfast" in done.stdout


def test_bash_takes_it(regular):
    script = regular.hold("completion", "bash").stdout
    told = subprocess.run(
        ["bash", "-c", f"{script}\ncomplete -p hold"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert "_hold_completion" in told.stdout


def test_commands_options_and_ids_are_completed(regular):
    id = regular.detached(QUICK)
    assert {"diff", "dismiss"} == set(complete(regular, "hold", "di"))
    assert "--json" in complete(regular, "hold", "ls", "--")
    assert [id] == complete(regular, "hold", "show", id[:5])


def test_completing_starts_no_daemon(user):
    assert [] == complete(user, "hold", "show", "")
    assert not user.home.exists()
