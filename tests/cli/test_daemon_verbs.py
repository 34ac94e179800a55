"""`up`, `down`, `status`: one daemon for each folder, whatever happened to the last one."""

import contextlib
import json
import os
import socket
import stat

from holdfast.config import PORT
from tests.cli.desk import User, alive


def test_status_without_a_daemon_starts_none(user):  # spec: I3
    done = user.hold("status", "--json")
    assert (done.returncode, json.loads(done.stdout)["running"]) == (3, False)
    assert not user.home.exists()


def test_up_prints_a_link_and_returns(user):  # spec: I3
    done = user.hold("up", "--no-open")
    assert (done.returncode, "/login?code=" in done.stdout) == (0, True)
    assert stat.S_IMODE(user.home.stat().st_mode) == 0o700
    status = user.json("status")
    assert status["running"] is True
    assert status["pid"] == user.pid
    assert status["home"] == str(user.home)
    assert status["address"].startswith("http://127.0.0.1:")
    assert {"socket", "store", "version"} <= status.keys()


def test_a_second_up_uses_the_first(user):  # spec: I3
    user.hold("up", "--no-open")
    first = user.pid
    assert user.hold("up", "--no-open").returncode == 0
    assert user.pid == first


def test_a_second_daemon_is_refused_and_names_the_first(user):  # spec: P3
    user.hold("up", "--no-open")
    second = user.hold("up", "--foreground")
    assert (second.returncode, f"pid {user.pid}" in second.stderr) == (1, True)
    assert user.json("status")["pid"] == user.pid


def test_a_living_daemon_is_not_displaced_when_its_lock_is_removed(user):  # spec: P3
    user.hold("up", "--no-open")
    first = user.pid
    (user.home / "daemon.lock").unlink()
    assert user.hold("up", "--foreground").returncode == 1
    assert user.json("status")["pid"] == first


def test_a_dead_daemons_lock_does_not_block(user):  # spec: G2
    user.hold("up", "--no-open")
    first = user.pid
    user.kill_daemon()
    assert (user.home / "holdfast.sock").exists()
    assert user.hold("up", "--no-open").returncode == 0
    assert user.pid != first


def test_a_lock_that_names_a_living_stranger_does_not_block(user):  # spec: G2
    user.home.mkdir(mode=0o700)
    stranger = {"boot": "", "pid": os.getpid(), "start": "1", "nonce": ""}
    (user.home / "daemon.lock").write_text(json.dumps(stranger))
    assert user.hold("up", "--no-open").returncode == 0
    assert alive(os.getpid())


def test_down_stops_it_and_leaves_nothing_behind(user):  # spec: G1
    user.hold("up", "--no-open")
    pid = user.pid
    assert user.hold("down").returncode == 0
    assert not alive(pid)
    left = {path.name for path in user.home.iterdir()}
    assert not {"daemon.json", "holdfast.sock"} & left
    assert user.hold("down").returncode == 0


def test_a_folder_that_is_open_to_others_is_refused(user):  # spec: I5
    user.home.mkdir(mode=0o755)
    done = user.hold("ls")
    assert (done.returncode, "chmod 700" in done.stderr) == (2, True)


def test_a_taken_port_is_said(user):  # spec: I3
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = user.hold("up", "--no-open", "--port", str(port))
    assert (done.returncode, f"Port {port} is taken" in done.stderr) == (1, True)


def test_who_names_no_port_gets_the_next_that_is_free(user):  # spec: I3
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # somebody else has it: all the same
            stack.enter_context(socket.create_server(("127.0.0.1", PORT)))
        assert user.hold("up", "--no-open").returncode == 0
    assert not user.json("status")["address"].endswith(f":{PORT}")


def test_a_long_path_is_no_obstacle(tmp_path):
    user = User(tmp_path / ("long" * 30))
    try:
        assert user.hold("up", "--no-open").returncode == 0
        assert user.json("ls") == {"sessions": [], "next": None}
    finally:
        user.clean_up()
