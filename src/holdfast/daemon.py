"""The process: one for each state folder. Lock, sockets, signals; the system itself is passed in.

Rule 1: whoever holds the lock on `daemon.lock` is the daemon. The kernel takes it back when the
        process dies, so a stale or reused pid never blocks, and a living one is never displaced.
        What is written in the file is for people.
Rule 2: it is ready when `daemon.json` is there: the journal is open, what was cut off is written
        down, and both sockets answer.
Rule 3: going down in order, what dies with us is written down as interrupted (`daemon_stopping`)
        before clients are let go. Agents that outlive us are left alone, unless told otherwise.
"""

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from holdfast.client import SOCKET, Client, DaemonDown, short_address
from holdfast.config import PORT, Config, prepare
from holdfast.core.value import Value

if TYPE_CHECKING:  # heavy: whoever only starts a daemon does not pay for it
    import uvicorn

    from holdfast.engine.engine import Engine
    from holdfast.server.desk import Desk

LOG = logging.getLogger(__name__)
LOCK, READY, LOG_FILE = "daemon.lock", "daemon.json", "daemon.log"
LOG_BYTES = 10_000_000
PORTS = 50  # tried one after another
START, POLL = 20.0, 0.02  # seconds
ANOTHER = 3  # exit code: there is a daemon already


class NoStart(Exception):
    """One clear sentence: why there is no daemon."""


class Identity(Value, omit_defaults=False):
    """One life of one process. A bare pid is none: pids are reused."""

    boot: str
    pid: int
    start: str
    nonce: str


class Wanted(NamedTuple):
    """How the daemon is to be reached. `port` None: 4653 or the next that is free."""

    port: int | None = None
    allow_hosts: tuple[str, ...] = ()


if TYPE_CHECKING:

    class System(Desk, Protocol):
        """What runs behind the front door. assembly.py has the real one."""

        async def start(self) -> None: ...
        async def stop(self) -> None: ...


MakeSystem = Callable[[Path, Config], "System"]


def assembled(home: Path, config: Config) -> "System":
    from holdfast.assembly import System  # noqa: PLC0415  names every adapter: only the daemon pays

    return System(home, config)


# --- the lock -------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(home: Path) -> Iterator[None]:
    """For as long as this lasts, this process is the daemon of that folder."""
    file = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise NoStart(f"A daemon is running for {home}: {_who(home)}.") from error
        os.ftruncate(file, 0)
        os.write(file, json.dumps(_identity()).encode())
        _nobody_answers(home)
        yield
    finally:
        os.close(file)  # and with it the lock


def is_locked(home: Path) -> bool:
    try:
        file = os.open(home / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _nobody_answers(home: Path) -> None:
    """Somebody may have removed the lock's file from under a living daemon."""
    with contextlib.suppress(DaemonDown):
        alive = Client(home).health()
        raise NoStart(f"A daemon is running for {home}: pid {alive.pid}. Its lock was removed.")


def _identity() -> dict[str, Any]:
    pid = os.getpid()
    boot = start = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return {"boot": boot, "pid": pid, "start": start, "nonce": secrets.token_hex(8)}


def _who(home: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        return f"pid {json.loads((home / LOCK).read_text())['pid']}"
    return "pid unknown"
