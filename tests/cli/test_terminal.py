"""What a user sees and does at a real terminal: keys, the picker, the progress line, attach."""

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time

import pytest

from tests.cli.desk import ASKING, HOLD, PATIENCE, QUICK, SLOW, until

CTRL_C, CTRL_D, CTRL_Q = b"\x03", b"\x04", b"\x11"
CALLS = (
    {"text": "Look.", "tool_calls": [{"name": "shell", "input": {"command": "sleep 1.5"}}]},
    {"text": "Done.", "usage": {"input": 1200, "output": 34}},
)


class Terminal:
    """`hold`, with a terminal of its own."""

    def __init__(self, user, *arguments):
        self.ours, theirs = pty.openpty()
        self.seen = ""
        self.process = subprocess.Popen(
            [HOLD, *arguments],
            cwd=user.repo,
            env={**user.environ, "TERM": "xterm", "COLUMNS": "80"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=lambda: _own_terminal(theirs),  # noqa: PLW1509  nothing else has begun
        )
        os.close(theirs)

    def type(self, keys):
        os.write(self.ours, keys)

    def read(self, seconds):
        if not select.select([self.ours], [], [], seconds)[0]:
            return
        try:
            self.seen += os.read(self.ours, 65_536).decode("utf-8", "replace")
        except OSError:
            return  # nobody is at the other end any more

    def until(self, pattern):
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, self.seen):
            assert time.monotonic() < deadline, f"{pattern!r} is not in {self.seen!r}"
            self.read(0.1)

    def ended(self):
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it goes on: {self.seen!r}"
            self.read(0.1)
        self.read(0.1)
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)


def _own_terminal(file):
    os.setsid()
    fcntl.ioctl(file, termios.TIOCSCTTY, 0)


@pytest.fixture
def at_terminal(user):
    opened = []

    def begin(*arguments):
        opened.append(Terminal(user, *arguments))
        return opened[-1]

    yield begin
    for terminal in opened:
        terminal.close()


def the_session(user):
    return user.json("ls")["sessions"][0]


def test_ctrl_q_leaves_the_run_running(user, at_terminal):  # spec: I2
    run = at_terminal("run", "--model", user.script(SLOW), "please")
    run.until("begun")
    run.type(CTRL_Q)
    assert run.ended() == 0
    assert "The run goes on" in run.seen
    assert the_session(user)["run"] == 1


def test_a_hang_up_leaves_the_run_running(user, at_terminal):  # spec: I2
    run = at_terminal("run", "--model", user.script(SLOW), "please")
    run.until("begun")
    run.process.send_signal(signal.SIGHUP)
    assert run.ended() == 129
    assert the_session(user)["run"] == 1


def test_ctrl_c_stops_the_run(user, at_terminal):  # spec: I2
    run = at_terminal("run", "--model", user.script(SLOW), "please")
    run.until("begun")
    run.type(CTRL_C)
    assert run.ended() == 130
    assert the_session(user)["last_stop"]["reason"] == "cancelled"


def test_a_second_ctrl_c_leaves_at_once(user, at_terminal):  # spec: I2
    run = at_terminal("run", "--model", user.script(SLOW), "please")
    run.until("begun")
    os.kill(user.pid, signal.SIGSTOP)  # a daemon that does not answer
    try:
        run.type(CTRL_C)
        run.until("Stopping")
        run.type(CTRL_C)
        assert run.ended() == 130
        assert "Resume with: hold resume" in run.seen
    finally:
        os.kill(user.pid, signal.SIGCONT)


def test_a_question_that_is_left_stays_open_and_is_asked_again(user, at_terminal):  # spec: B11 I2
    run = at_terminal("run", "--mode", "ask", "--model", user.script(ASKING), "please")
    run.until("Your answer: ")
    run.type(CTRL_D)
    assert run.ended() == 5
    id = the_session(user)["id"]
    assert f"hold decide {id} yes" in run.seen and f"hold resume {id}" in run.seen
    back = at_terminal("resume", id)
    back.until("Your answer: ")
    assert re.search(r"\? .*a\.txt", back.seen)
    back.type(b"1\r")
    assert back.ended() == 0


def test_whoever_waits_is_asked(user, at_terminal):  # spec: B11
    id = user.detached(ASKING, "--mode", "ask")
    waiting = at_terminal("wait", id)
    waiting.until(r"\? .*a\.txt")
    waiting.until("Your answer: ")
    waiting.type(b"\r1\r")
    assert waiting.ended() == 0
    assert user.session(id)["last_stop"]["reason"] == "completed"


def test_the_picker_offers_what_stopped(user, at_terminal):  # spec: I1
    id = user.detached(SLOW)
    user.at_work(id)
    user.hold("stop", id)
    picker = at_terminal("resume", "--detach")
    picker.until(f"1  {id[:6]}")
    picker.until("Agent stopped by user")
    picker.type(b"1\n")
    assert picker.ended() == 0
    until(lambda: user.session(id)["run"] == 2, "the second run")


def test_uncommitted_work_is_asked_about(user, at_terminal):  # spec: H2 P10
    id = user.detached(QUICK)
    tree = user.stopped(id)["workspace"]["path"]
    (user.folder / tree / "mine.txt").write_text("mine")
    asking = at_terminal("rm", id)
    asking.until(r"mine\.txt[^?]*Let it go\?")
    asking.type(b"n\n")
    assert asking.ended() == 2
    assert (user.folder / tree / "mine.txt").exists()


def test_progress_is_one_line_that_leaves_no_trace(user, at_terminal):  # spec: I2
    run = at_terminal("run", "--mode", "full", "--model", user.script(CALLS), "please")
    run.until(r"shell sleep 1\.5 \(round 1, ")
    assert run.ended() == 0
    for drawn in re.findall(r"\x1b\[2K([^\r\n]*)", run.seen):
        assert len(drawn) < 80
    left = [line.rpartition("\x1b[2K")[2] for line in run.seen.split("\r\n")]
    assert not [line for line in left if re.match(r"[|/\\-] .*\(round", line)], left
    piped = user.run(CALLS, "--mode", "full")
    assert "\x1b" not in piped.stdout + piped.stderr and "(round 1" not in piped.stderr


def test_attached_one_sees_types_and_leaves(user, at_terminal):  # spec: I1 A8 A9
    id = user.detached(QUICK)
    user.stopped(id)
    attached = at_terminal("attach", id)
    attached.until(r"All is well\.")
    attached.until("> $")
    attached.type(b"and again\n")
    attached.until("done")  # past its end the script says so
    attached.until(r"Resume with[^>]*> $")
    assert attached.seen.count("and again") == 1, "the terminal shows it already"
    attached.type(CTRL_D)
    assert attached.ended() == 0
    assert f"hold attach {id}" in attached.seen


def test_what_is_typed_while_it_runs_waits_its_turn(user, at_terminal):  # spec: A9
    id = user.detached(SLOW)
    user.at_work(id)
    attached = at_terminal("attach", id)
    attached.until("word")
    attached.type(b"then this\n")
    until(lambda: [q["text"].strip() for q in user.session(id)["queue"]] == ["then this"], "it")
    attached.type(CTRL_Q)
    assert attached.ended() == 0
    assert user.session(id)["run"] == 1
    assert user.hold("attach", id).returncode == 2


def test_an_attached_stop_was_seen(user, at_terminal):  # spec: A8
    id = user.detached(SLOW)
    user.at_work(id)
    user.kill_daemon()
    user.hold("up", "--no-open")
    assert user.json("ls")["sessions"][0]["stop_seen"] is False
    at_terminal("attach", id).until("interrupted")
    until(lambda: user.json("ls")["sessions"][0]["stop_seen"], "that it was seen")
