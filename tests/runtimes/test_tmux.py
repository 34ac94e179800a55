"""Programs in a real tmux: given exactly what was said, found again, ended for certain."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from holdfast.runtimes.processes import COOKIE, carrying, look
from holdfast.runtimes.tmux import Tmux

# spec: H1 G1 E8

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
NAPPING = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]
READS = """
import json, sys, tty
tty.setraw(0)
sys.stdout.write('\\x1b[?2004hready\\r\\n'); sys.stdout.flush()
got = ''
while not got.endswith('\\x1b[201~\\r'):
    got += sys.stdin.read(1)
open(sys.argv[1], 'w').write(json.dumps(got))
"""


@pytest.fixture
def tmux(tmp_path):
    made = Tmux(tmp_path)
    yield made
    subprocess.run(["tmux", "-L", made.server, "kill-server"], capture_output=True, check=False)


async def until(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := await true()):
        assert time.monotonic() < deadline, "it never came to that"
        await asyncio.sleep(0.02)
    return found


async def launch(tmux, argv, name="a-1", cookie="a:1", **env):
    variables = {"PATH": os.environ["PATH"], **env}
    return await tmux.launch(name, argv, cwd="/", env=variables, cookie=cookie)


def dead(tmux, name="a-1"):
    async def look():
        pane = await tmux.find(name)
        return pane if pane and pane.dead else None

    return look


async def test_arguments_and_environment_arrive_as_they_are(tmux, tmp_path):
    out = tmp_path / "out.json"
    code = "import json,os,sys; open(sys.argv[1],'w').write(json.dumps([sys.argv[2:], dict(os.environ)]))"
    long, odd = "x" * 100_000, "a 'b' $HOME `id` ;\n#{pane_pid}"
    await launch(tmux, [sys.executable, "-c", code, str(out), long, odd], GIVEN="1 2;3")
    pane = await until(dead(tmux))
    assert pane.code == 0
    given, env = json.loads(out.read_text())
    assert given == [long, odd]
    assert (env["GIVEN"], env[COOKIE]) == ("1 2;3", "a:1")
    assert "HOLDFAST_HOME" not in env
    assert [] == list((tmp_path / "tmux").glob("*.json"))


async def test_how_it_ended_can_be_read_afterwards(tmux):
    await launch(tmux, [sys.executable, "-c", "print('last words'); raise SystemExit(3)"])
    pane = await until(dead(tmux))
    assert (pane.code, pane.signal) == (3, None)
    assert "last words" in await tmux.screen("a-1")
    killed = await launch(tmux, NAPPING, name="a-2", cookie="a:2")

    async def up():
        return "up" in await tmux.screen("a-2")

    await until(up)
    (program,) = _children(killed.pid)
    os.kill(program, signal.SIGKILL)
    assert (await until(dead(tmux, "a-2"))).signal == signal.SIGKILL


async def test_a_program_that_is_not_there_says_so(tmux):
    await launch(tmux, ["/no/such/program"])
    pane = await until(dead(tmux))
    assert pane.code == 127
    assert "No such file" in await tmux.screen("a-1")


async def test_launching_twice_is_launching_once(tmux):
    first = await launch(tmux, NAPPING)
    assert (await launch(tmux, NAPPING)).pid == first.pid
    assert Tmux(tmux.folder.parent).server == tmux.server
    assert list(await Tmux(tmux.folder.parent).panes()) == ["a-1"]


async def test_text_is_pasted_whole_and_bracketed(tmux, tmp_path):
    out = tmp_path / "got.json"
    await launch(tmux, [sys.executable, "-c", READS, str(out)])

    async def ready():
        return "ready" in await tmux.screen("a-1")

    await until(ready)
    text = "first line\nsecond; `$x` 'ä'\n" + "long " * 5000
    await tmux.paste("a-1", text)
    await tmux.press("a-1", "Enter")
    await until(dead(tmux))
    got = json.loads(out.read_text())
    assert got == f"\x1b[200~{text}\x1b[201~\r"


async def test_an_end_leaves_nobody(tmux):
    code = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], env={}, start_new_session=True)
print('up', flush=True); time.sleep(600)
"""
    pane = await launch(tmux, [sys.executable, "-c", code])

    async def up():
        (program,) = _children(pane.pid) or [pane.pid]
        return _children(program) if len(_children(program)) == 2 else None

    children = await until(up)
    await launch(tmux, NAPPING, name="b-1", cookie="b:1")
    assert await tmux.end("a-1", "a:1") == ()
    assert carrying("a") == []
    assert not [p for pid in children if (p := look(pid)) is not None and p.state not in "ZX"]
    assert list(await tmux.panes()) == ["b-1"]
    assert await tmux.end("a-1", "a:1") == ()  # again
    assert await tmux.end_all("b-", "b") == ()
    assert await tmux.panes() == {}


async def test_without_a_server_there_is_nobody(tmux):
    assert await tmux.panes() == {}
    assert await tmux.screen("a-1") == ""


async def test_ctrl_q_detaches_and_it_lives_on(tmux):
    import pty  # noqa: PLC0415

    pane = await launch(tmux, NAPPING)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("tmux", tmux.attach("a-1"))  # noqa: S606
    said = b""
    while b"up" not in said:
        said += os.read(terminal, 4096)
    os.write(terminal, b"\x11")
    _, status = await asyncio.to_thread(os.waitpid, pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert (await tmux.find("a-1")) == pane


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:  # noqa: PTH123
        return [int(child) for child in file.read().split()]
