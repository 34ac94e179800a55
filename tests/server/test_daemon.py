"""The process: one for each folder, killed and stopped, and what is written down of it."""

import json
import os
import signal
import stat
import subprocess
import sys

from tests.server.place import PATIENCE, ROOT, Place, placed, until
from tests.server.test_socket import line


def test_a_kill_in_the_middle_of_a_run_is_an_interruption(fresh):  # spec: D1 A4
    fresh.hold()
    id = fresh.create()
    fresh.busy(id)
    fresh.kill()
    fresh.start()
    stop = fresh.session(id)["stop"]
    assert (stop["reason"], stop["phase"]) == ("interrupted", "executing_tools")
    assert "daemon_stopping" not in stop["evidence"]
    fresh.release()
    assert fresh.ask("POST", f"/api/sessions/{id}/resume", {})["run"] == 2
    assert fresh.stopped(id)["last_stop"]["reason"] == "completed"


async def test_a_resume_whose_answer_was_lost_with_the_daemon_is_not_done_twice(
    fresh,
):  # spec: A7 P8
    fresh.hold()
    id = fresh.create()
    fresh.busy(id)
    fresh.kill()
    fresh.start()
    tap = "a tap on the button"

    def begun():
        events = fresh.ask("GET", f"/api/sessions/{id}/events?after=0")["events"]
        return [event["data"]["run"] for event in events if event["type"] == "run_started"]

    async with line(fresh) as page:
        await page.say("resume", id, id=tap)
        until(lambda: begun() == [1, 2], "a second run")
        fresh.kill()
    fresh.start()
    fresh.release()
    async with line(fresh) as page:
        await page.say("resume", id, id=tap)
        told = await page.hear("result")
        assert told["ok"]["already_running"] is False, told
        assert begun() == [1, 2]
        await page.say("resume", id, id="another tap, somewhat later")
        assert (await page.hear("result"))["ok"]["run"] == 3


def test_going_down_in_order_says_so(fresh):  # spec: A4
    fresh.hold()
    id = fresh.create()
    fresh.busy(id)
    assert fresh.kill(signal.SIGTERM) == 0
    fresh.start()
    stop = fresh.session(id)["stop"]
    assert (stop["reason"], stop["evidence"]["daemon_stopping"]) == ("interrupted", True)


def test_followers_are_told_before_the_daemon_goes(fresh):  # spec: A6
    fresh.hold()
    id = fresh.create()
    fresh.busy(id)
    lines = fresh.client.stream("GET", f"/api/sessions/{id}/events?after=0&follow=1")
    assert json.loads(next(lines))["seq"] == 1
    fresh.process.send_signal(signal.SIGINT)
    assert json.loads(list(lines)[-1])["data"]["stop"]["reason"] == "interrupted"
    assert fresh.process.wait(PATIENCE) == 0


def test_a_second_daemon_is_refused(fresh):  # spec: P3
    again = subprocess.run(
        [sys.executable, "-m", "tests.server.scripted", str(fresh.home)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert again.returncode == 1
    assert f"pid {fresh.process.pid}" in again.stderr
    assert fresh.ask("GET", "/api/health")["pid"] == fresh.process.pid


def test_a_frozen_daemon_is_not_displaced(fresh):  # spec: P3
    os.kill(fresh.process.pid, signal.SIGSTOP)
    try:
        second = Place(fresh.home)
        command = [sys.executable, "-m", "tests.server.scripted", str(second.home)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == 1
    finally:
        os.kill(fresh.process.pid, signal.SIGCONT)
    assert fresh.ask("GET", "/api/health")["pid"] == fresh.process.pid


def test_a_lock_of_another_boot_or_process_is_taken(tmp_path):  # spec: G2
    for n, left in enumerate(("", "{", '{"pid": 1, "boot": "x", "start": "1"}')):
        with placed(tmp_path / str(n), start=False) as place:
            (place.home / "daemon.lock").write_text(left)
            place.start()
            assert place.read("daemon.lock")["pid"] == place.process.pid


def test_it_says_where_it_is_when_it_is_ready(fresh):  # spec: I3
    told = fresh.read("daemon.json")
    assert told["socket"] == str(fresh.home / "holdfast.sock")
    assert stat.S_ISSOCK((fresh.home / "holdfast.sock").lstat().st_mode)
    fresh.kill(signal.SIGTERM)
    assert until(lambda: not (fresh.home / "daemon.json").exists())


def test_a_token_that_is_open_to_others_is_refused(tmp_path):  # spec: J4
    with placed(tmp_path, start=False) as place:
        (place.home / "token").write_text("x" * 43)
        (place.home / "token").chmod(0o644)
        command = [sys.executable, "-m", "tests.server.scripted", str(place.home)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (done.returncode, "open to others" in done.stderr) == (1, True)


def test_a_name_of_a_proxy_is_let_in_when_it_was_allowed(tmp_path):  # spec: J4
    with placed(tmp_path, "--allow-host", "hold.example") as place:
        headers = {"Host": "hold.example", "Origin": "https://hold.example"}
        assert place.request("GET", "/api/health", headers=headers)[0] == 200
        headers = {"Host": "other.example"}
        assert place.request("GET", "/api/health", headers=headers)[0] == 403
