"""Processes that are talked to: found again after our death, and ended with all that they began."""

# spec: E8, G8, H1

import asyncio
import os
import sys
import time

from holdfast.core.session import Handle
from holdfast.core.value import replace
from holdfast.runtimes.piped import Piped, end_of, start
from holdfast.runtimes.processes import alive, carrying, look

COOKIE = f"piped{os.getpid()}:1"  # looked for on the whole machine
ENV = {"PATH": "/usr/bin:/bin"}

# Leaves a child in another session, without our cookie: only its group tells that it is ours.
SPLIT = (
    "import os,subprocess,sys,time\n"
    "p=subprocess.Popen(['sleep','60'],env={})\n"
    "print(p.pid,flush=True)\n"
    "time.sleep(60)\n"
)


def begin(*argv: str) -> Piped:
    return start(argv, cwd="/", env=ENV, cookie=COOKIE)


def close(piped: Piped) -> None:
    piped.close()
    for pipe in (piped.stdin, piped.stdout, piped.stderr):
        pipe.close()


async def line(piped: Piped) -> bytes:
    return await asyncio.to_thread(piped.stdout.readline)


async def test_what_is_said_comes_back_and_its_end_is_noticed():
    piped = begin("cat")
    piped.stdin.write(b"hello\n")
    assert b"hello\n" == await line(piped)
    piped.stdin.close()
    assert await piped.exited_within(60)
    assert 0 == piped.code()
    close(piped)


async def test_its_handle_says_who_it_is():
    piped = begin("sleep", "60")
    found = look(piped.pid)
    assert (piped.pid, str(found.start)) == (piped.handle.pid, piped.handle.start)
    assert piped.handle.boot and COOKIE == piped.handle.name
    assert [] == await piped.end()
    close(piped)


async def test_after_our_death_a_tree_is_ended_by_cookie_and_by_group():
    piped = begin(sys.executable, "-c", SPLIT)
    orphan = look(int(await line(piped)))
    assert orphan not in carrying(COOKIE)
    assert () == await end_of(COOKIE, piped.handle)
    assert not alive(orphan) and [] == carrying(COOKIE)
    await piped.exited_within(60)
    close(piped)


async def test_a_stranger_who_has_the_number_now_is_left_alone():
    piped = begin("sleep", "60")
    mistaken = replace(piped.handle, start="1")
    other_boot = replace(piped.handle, boot="another")
    for handle in (mistaken, other_boot, Handle(), None):
        assert () == await end_of("nobody:9", handle)
    assert not piped.exited.is_set() and alive(look(piped.pid))
    await piped.end()
    close(piped)


async def test_one_that_ignores_the_polite_word_is_killed():
    piped = begin("sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done")
    await line(piped)
    begun = time.monotonic()
    assert [] == await piped.end()
    assert piped.exited.is_set() and time.monotonic() - begun < 40
    close(piped)
