"""One clear message and the right exit code, for whatever is wrong."""

import json
from pathlib import Path

import pytest

from tests.cli.desk import QUICK


@pytest.fixture(scope="module")
def made(regular):
    regular.run(QUICK)
    return regular.json("ls")["sessions"][0]["id"]


@pytest.mark.parametrize("verb", ["show", "stop", "resume", "dismiss", "close", "logs", "wait"])
def test_an_unknown_id_exits_3(regular, made, verb):  # spec: I2
    done = regular.hold(verb, "ffffffffffff")
    assert done.returncode == 3
    assert "There is no session 'ffffffffffff'" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_id_is_known_by_its_beginning(regular, made):  # spec: I2
    assert regular.session(made[:6])["id"] == made


def test_a_beginning_of_several_names_them(regular, made):  # spec: I2
    ids = [regular.json("new", "--model", regular.script(QUICK))["id"] for _ in range(17)]
    first = next(a[0] for a in ids if sum(b[0] == a[0] for b in [*ids, made]) > 1)
    done = regular.hold("show", first)
    assert done.returncode == 2
    assert all(id in done.stderr for id in [*ids, made] if id[0] == first)


def test_a_closed_session_is_not_resumed(regular):  # spec: A2
    regular.run(QUICK)
    id = regular.json("ls")["sessions"][0]["id"]
    regular.hold("close", id)
    done = regular.hold("resume", id)
    assert (done.returncode, "hold fork" in done.stderr) == (1, True)
    regular.run(QUICK)
    id = regular.json("ls")["sessions"][0]["id"]
    regular.hold("close", id, "--cancelled")
    done = regular.hold("resume", id)
    assert (done.returncode, "hold reopen" in done.stderr) == (1, True)
    assert regular.hold("reopen", id).returncode == 0


def test_a_folder_without_git_names_the_way_out(regular):  # spec: H2
    plain = regular.folder / "plain"
    plain.mkdir()
    model = regular.script(QUICK)
    done = regular.hold("run", "--model", model, "please", cwd=plain)
    assert (done.returncode, "--here" in done.stderr) == (2, True)
    there = regular.hold("run", "--here", "--no-git", "--model", model, "please", cwd=plain)
    assert there.returncode == 0, there.stderr


def test_a_prompt_of_more_than_a_megabyte_is_refused(regular):  # spec: J3 M1
    done = regular.hold("run", "--model", regular.script(QUICK), "-", input="x" * 1_100_000)
    assert done.returncode == 2
    assert "1,100,000 bytes" in done.stderr
    huge = regular.hold("run", "--model", regular.script(QUICK), "-", input="x" * 5_000_000)
    assert huge.returncode == 2
    assert "Traceback" not in huge.stderr


def test_bytes_that_are_no_text_are_no_prompt(regular):  # spec: M1
    piped = regular.hold("run", "--model", regular.script(QUICK), "-", input="\udcff\udcfe")
    given = regular.hold("run", "--model", regular.script(QUICK), "\udcff")
    for done in (piped, given):
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert "not text" in done.stderr


def test_a_prompt_comes_in_a_pipe(regular):  # spec: I5
    done = regular.hold("run", "--model", regular.script(QUICK), "-", input="from a pipe")
    assert (done.returncode, "> from a pipe" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["lss"],
        ["run"],
        ["run", "--mode", "reckless", "x"],
        ["run", "--budget-usd", "-1", "x"],
        ["run", "--no-git", "x"],
        ["resume"],
        ["resume", "abc", "--last"],
        ["ls", "--limit", "0"],
    ],
)
def test_wrong_usage_exits_2(regular, arguments):  # spec: I2
    done = regular.hold(*arguments)
    assert done.returncode == 2
    assert done.stderr.strip() != "" and "Traceback" not in done.stderr


def test_an_empty_prompt_is_refused(regular):  # spec: M1
    done = regular.hold("run", "--model", regular.script(QUICK), "  ")
    assert (done.returncode, "empty" in done.stderr) == (2, True)


def test_with_json_an_error_is_json_too(regular):  # spec: I2
    done = regular.hold("show", "ffffffffffff", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "not_found"


def test_an_unknown_setting_is_named_with_its_line(user):  # spec: I5 M1
    user.home.mkdir(mode=0o700)
    (user.home / "config.toml").write_text('# ours\nmodell = "x"\n')
    done = user.hold("ls")
    assert done.returncode == 2
    assert "config.toml, line 2: 'modell' is not a setting. Did you mean 'model'?" in done.stderr


def test_text_cannot_speak_to_the_terminal(regular):  # spec: M1
    evil = "\x1b]52;c;aGk=\x07\x1b[2Jhello\x9b31m\u202e"
    done = regular.run(({"text": evil},), prompt=evil)
    assert "hello" in done.stdout
    assert not set("\x1b\x07\x9b\u202e") & set(done.stdout)
    assert not set("\x1b\x07\x9b\u202e") & set(regular.hold("ls").stdout)


def test_a_model_that_nobody_knows_is_refused_and_leaves_nothing(user):  # spec: B1 M1
    done = user.hold("run", "--model", "antropic:claude-sonnet-4-5", "please")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "antropic" in done.stderr and "anthropic" in done.stderr
    assert "Traceback" not in done.stderr
    assert user.json("ls")["sessions"] == []


def test_a_missing_key_stops_the_run_and_names_the_variable(user):  # spec: B1 M1
    done = user.hold("run", "--model", "anthropic:claude-sonnet-4-5", "please")
    assert done.returncode == 1, done.stdout + done.stderr
    session = user.json("ls")["sessions"][0]
    stop = session["last_stop"]
    assert (stop["reason"], stop["class"]) == ("error", "auth")
    assert "ANTHROPIC_API_KEY" in stop["message"]
    assert f"Resume with: hold resume {session['id']}" in done.stdout


def test_a_workspace_that_git_cannot_read_is_said_and_left_alone(user):  # spec: D4 M1
    user.run(QUICK)
    session = user.json("ls")["sessions"][0]
    marker = Path(session["workspace"]["path"]) / ".git"
    right = marker.read_bytes()
    marker.write_bytes(b"\x00 nothing that git would know\n")
    done = user.hold("resume", session["id"])
    assert done.returncode == 1
    assert "Git could not say what state" in done.stderr and "Traceback" not in done.stderr
    assert marker.read_bytes().startswith(b"\x00")
    marker.write_bytes(right)
    assert user.hold("resume", session["id"]).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        "head -c 10000000 /dev/zero | tr '\\0' x",
        "head -c 1000000 /dev/urandom",
        "printf '\\377\\000'",
    ],
)
def test_ten_megabytes_and_bytes_that_are_no_text_are_output_too(regular, command):  # spec: M1
    tool = {"name": "shell", "input": {"command": command}}
    rows = ({"text": "Look.", "tool_calls": [tool]}, {"text": "Seen."})
    done = regular.run(rows, "--mode", "full")
    assert (done.returncode, "Seen." in done.stdout) == (0, True), done.stderr
    id = regular.json("ls")["sessions"][0]["id"]
    told = regular.hold("logs", id, "--json").stdout
    assert "call_finished" in told and len(told) < 2_000_000


def test_a_prompt_of_a_megabyte_is_taken(regular):  # spec: J3
    done = regular.hold("run", "--model", regular.script(QUICK), "-", input="x" * 1_000_000)
    assert (done.returncode, "All is well." in done.stdout) == (0, True), done.stderr
