"""Commands on this machine: how they end, what is kept of their output, and that nothing is left."""

# spec: B6, H1, C6

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.core.value import replace
from holdfast.runtimes.local import LocalRuntime, scrubbed, sweep
from holdfast.runtimes.processes import COOKIE, alive, carrying, look, send

LIMIT = 10_000


@pytest.fixture
def runtime(request):
    """Each test has a launch of its own, and leaves nothing behind."""
    cookie = f"t{abs(hash(request.node.nodeid)):x}:1"
    yield LocalRuntime(cookie)
    asyncio.run(sweep(cookie))


async def sh(runtime, line, *, within=60.0, limit=LIMIT, cwd="/", **more):
    argv = ["/bin/sh", "-c", line]
    return await runtime.run(
        argv, cwd=cwd, env=more.pop("env", {}), timeout=within, output_limit=limit, **more
    )


async def until(condition, *, seconds=60):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "waited in vain"
        await asyncio.sleep(0.005)
    return found


def open_handles():
    return len(list(Path("/proc/self/fd").iterdir()))


def written(path):
    """The number that a command wrote into a file, once it is whole."""
    text = path.read_text() if path.exists() else ""
    return int(text) if text.endswith("\n") else 0


async def test_both_streams_come_in_order_with_the_exit_code(runtime):
    done = await sh(runtime, "echo one; echo two >&2; echo three; exit 3")

    assert (3, None, b"one\ntwo\nthree\n") == (done.exit_code, done.signal, done.output)
    assert (14, False, False) == (done.size, done.timed_out, done.held)


async def test_a_command_that_dies_of_a_signal_says_which(runtime):
    done = await sh(runtime, "kill -9 $$")

    assert (None, signal.SIGKILL) == (done.exit_code, done.signal)


async def test_of_a_flood_the_head_and_the_tail_are_kept_and_the_size_is_known(runtime):
    done = await sh(runtime, "echo first; yes | head -c 5000000; echo last", limit=1000)

    assert done.size == 5_000_011
    assert done.output.startswith(b"first\ny\n") and done.output.endswith(b"y\nlast\n")
    assert b"bytes left out" in done.output and len(done.output) < 1100


async def test_input_that_nobody_reads_blocks_nobody(runtime):
    done = await sh(runtime, "echo ok", input=b"x" * 1_000_000)
    read = await sh(runtime, "wc -c", input=b"x" * 1_000_000)

    assert (b"ok\n", b"1000000\n") == (done.output, read.output)


async def test_a_program_that_is_not_there_is_an_os_error(runtime):
    with pytest.raises(FileNotFoundError):
        await runtime.run(["/nowhere"], cwd="/", env={}, timeout=1, output_limit=10)


async def test_a_grandchild_that_holds_the_pipe_does_not_hold_us(runtime, tmp_path):
    began = time.monotonic()
    done = await sh(runtime, f"sleep 60 & echo $! > {tmp_path}/pid; echo done")

    assert (0, b"done\n", True) == (done.exit_code, done.output, done.held)
    assert time.monotonic() - began < 40
    assert look(written(tmp_path / "pid")) is not None  # a server in the background may live on


ESCAPES = {
    "a child": "sleep 60 & echo $! > pid; wait",
    "one that ignores SIGTERM": "trap '' TERM; echo $$ > pid; while :; do sleep 1; done",
    "one in a session of its own": "setsid sh -c 'echo $$ > pid; exec sleep 60' & sleep 60",
    "one whose parents are gone": (
        "(setsid nohup sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1 &) ; sleep 60"
    ),
    "one without our cookie": "setsid env -i sh -c 'echo $$ > pid; exec sleep 60' & sleep 60",
}


@pytest.mark.parametrize("line", ESCAPES.values(), ids=ESCAPES.keys())
async def test_a_timeout_ends_the_whole_tree_before_it_returns(runtime, tmp_path, line):
    for within in (0.7, 5, 30):  # on a busy machine it has not begun by then, and proves nothing
        task = asyncio.create_task(sh(runtime, line, cwd=tmp_path, within=within))
        pid = await until(lambda task=task: written(tmp_path / "pid") or (task.done() and -1))
        victim = look(pid) if pid > 0 else None
        done = await task
        assert done.timed_out and done.survivors == ()
        if victim is not None:
            assert not alive(victim)
            return
        (tmp_path / "pid").unlink(missing_ok=True)
    pytest.fail("it did not begin in 30 s")


@pytest.mark.parametrize("line", ESCAPES.values(), ids=ESCAPES.keys())
async def test_a_cancel_ends_the_whole_tree_before_it_returns(runtime, tmp_path, line):
    task = asyncio.create_task(sh(runtime, line, cwd=tmp_path, within=60))
    victim = look(await until(lambda: written(tmp_path / "pid")))
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # an impatient user
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not alive(victim)


async def test_a_fork_bomb_is_ended_too(runtime, tmp_path):
    breeder = "while [ ! -e stop ]; do (setsid sleep 30 &) ; sleep 0.01; done"
    done = await sh(runtime, f"{breeder} & {breeder}", cwd=tmp_path, within=0.5)

    assert done.timed_out
    assert [p for p in carrying(runtime._cookie) if alive(p)] == []


async def test_a_timeout_leaves_alone_what_an_earlier_command_began(runtime, tmp_path):
    await sh(runtime, "sleep 60 >/dev/null 2>&1 & echo $! > pid", cwd=tmp_path)
    server = look(written(tmp_path / "pid"))
    await sh(runtime, "sleep 60", within=0.1)

    assert alive(server)


def test_after_a_crash_the_sweep_finds_what_was_left(tmp_path):
    name = f"crashed{os.getpid()}"
    script = (
        "import asyncio, sys\n"
        "from holdfast.runtimes.local import LocalRuntime\n"
        "line = '(setsid sh -c \"echo $$ > pid; exec sleep 60\" &) ; sleep 60'\n"
        "asyncio.run(LocalRuntime(sys.argv[2] + ':7').run(['/bin/sh', '-c', line], cwd=sys.argv[1],"
        " env={}, timeout=60, output_limit=10))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path), name]) as owner:
        victim = look(asyncio.run(until(lambda: written(tmp_path / "pid"))))
        owner.kill()
    assert alive(victim)

    assert asyncio.run(sweep(f"{name}:77")) == ()
    assert alive(victim)  # another launch's cookie only begins like ours

    assert asyncio.run(sweep(f"{name}:7")) == ()
    assert not alive(victim) and carrying(f"{name}:7") == []


def test_the_sweep_spares_whoever_calls_it():
    script = (
        "import asyncio\n"
        "from holdfast.runtimes.local import sweep\n"
        "print(asyncio.run(sweep('nested:1')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, COOKIE: "nested:1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "()\n") == (done.returncode, done.stdout)


def test_a_pid_with_another_start_time_is_never_signalled():
    with subprocess.Popen(["sleep", "60"]) as stranger:
        now = look(stranger.pid)

        assert not send(replace(now, start=now.start - 1), signal.SIGKILL)
        assert alive(now)
        assert send(now, signal.SIGKILL)


async def test_the_environment_is_an_allow_list(runtime, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent")
    done = await sh(runtime, "env", env={"GIVEN": "1"})
    names = {line.split("=")[0] for line in done.output.decode().splitlines()}

    assert {"GIVEN", "PATH", COOKIE} <= names
    assert names <= {*scrubbed(os.environ, {}), "GIVEN", COOKIE, "PWD", "OLDPWD", "SHLVL", "_"}
    assert b"canary" not in done.output


async def test_a_command_is_taken_before_us_when_memory_runs_out(runtime):
    done = await sh(
        runtime, f"sleep 0.05; cat /proc/{os.getpid()}/oom_score_adj /proc/self/oom_score_adj"
    )
    ours, its = map(int, done.output.split())

    assert its > ours


async def test_no_handle_is_left_open(runtime):
    await sh(runtime, "true")
    before = open_handles()
    for _ in range(5):
        await sh(runtime, "true")
    task = asyncio.create_task(sh(runtime, "sleep 60"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert before == open_handles()
