"""One clear message and the right exit code, for whatever is wrong."""

import json

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
