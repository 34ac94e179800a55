"""Which processes belong to a launch, and how to end all of them.

Rule 1: a process is a pid with its start time. A pid whose start time is another is a stranger, and
is never signalled: the handle is opened first, then looked at, then used.
Rule 2: ours is whoever is in the group or session we made, whoever descends from it, and whoever
carries our cookie in its environment: a process that left group and parents behind still has it.
Rule 3: SIGTERM, a short grace, SIGKILL; looked for again until nobody is left. Who begins meanwhile
is found by the next look.
Rule 4: a zombie is dead. What survives SIGKILL hangs in the kernel: it is named, not waited for.

All of it reads /proc. Elsewhere only the group is known.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from holdfast.core.value import Value

COOKIE = "HOLDFAST_COOKIE"  # session:launch, and for one command :number after it
GRACE = 2.0  # seconds between SIGTERM and SIGKILL
GIVE_UP = 10.0  # seconds after SIGKILL
POLL = 0.01
LOOK_AGAIN = 0.2  # reading all of /proc is not free
_PROC = Path("/proc")
_DEAD = frozenset("ZX")


class Process(Value):
    """As /proc describes it. With its start time, a pid is an identity within one boot."""

    pid: int
    start: int
    parent: int
    group: int
    session: int
    state: str


def look(pid: int) -> Process | None:
    """None: there is no such process, or nothing to look at."""
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name may hold anything, parentheses too: fields begin after the last one.
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(
        pid=pid,
        state=fields[0].decode("ascii"),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start=int(fields[19]),
    )


def everyone() -> list[Process]:
    return [found for pid in _pids() if (found := look(pid)) is not None]


def carrying(cookie: str) -> list[Process]:
    """Who has this cookie, or one that goes on after a colon. Never ourselves or whoever began us."""
    ours = _lineage(os.getpid())
    return [
        found
        for pid in _pids()
        if pid not in ours and _has_cookie(pid, cookie) and (found := look(pid)) is not None
    ]


def tree(root: int, *, among: Iterable[Process]) -> list[Process]:
    """A process with all that descend from it or live in the group or session it leads."""
    by_parent: dict[int, list[Process]] = {}
    found: dict[int, Process] = {}
    for process in among:
        by_parent.setdefault(process.parent, []).append(process)
        if root in (process.pid, process.group, process.session):
            found[process.pid] = process
    ahead = [root, *found]
    while ahead:
        for child in by_parent.get(ahead.pop(), []):
            if child.pid not in found:
                found[child.pid] = child
                ahead.append(child.pid)
    return list(found.values())


def send(process: Process, number: signal.Signals) -> bool:
    """False: it is gone, or its pid is somebody else's now."""
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        now = look(process.pid)
        if now is None or now.start != process.start:
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def alive(process: Process) -> bool:
    now = look(process.pid)
    return now is not None and now.start == process.start and now.state not in _DEAD


async def end(
    find: Callable[[], Iterable[Process]],
    *,
    known: Iterable[Process] = (),
    grace: float = GRACE,
) -> list[Process]:
    """Ends those that are `known`, all that `find` finds, and what appears meanwhile. Returns those
    that would not die."""
    left = await _signalled(find, known, signal.SIGTERM, grace)
    return await _signalled(find, left, signal.SIGKILL, GIVE_UP) if left else []


async def _signalled(
    find: Callable[[], Iterable[Process]],
    known: Iterable[Process],
    number: signal.Signals,
    patience: float,
) -> list[Process]:
    """Everyone gets the signal once (SIGKILL: again and again). Returns those still alive."""
    loop = asyncio.get_running_loop()
    until = loop.time() + patience
    told: set[tuple[int, int]] = set()
    # Once seen, a process stays ours, even when its parent's death cuts it off from us.
    left = {(p.pid, p.start): p for p in known}
    look_again = 0.0
    while True:
        left = {key: process for key, process in left.items() if alive(process)}
        if not left or loop.time() >= look_again:
            left |= {(p.pid, p.start): p for p in find() if p.state not in _DEAD}
            look_again = loop.time() + LOOK_AGAIN
        if not left or loop.time() >= until:
            return list(left.values())
        for key, process in left.items():
            if key not in told or number is signal.SIGKILL:
                send(process, number)
                told.add(key)
        await asyncio.sleep(POLL)


def _pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]


def _has_cookie(pid: int, cookie: str) -> bool:
    wanted = f"{COOKIE}={cookie}".encode()
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(v == wanted or v.startswith(wanted + b":") for v in variables)


def _lineage(pid: int) -> set[int]:
    found: set[int] = set()
    while pid > 0 and pid not in found:
        found.add(pid)
        now = look(pid)
        pid = now.parent if now else 0
    return found
