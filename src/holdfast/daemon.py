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
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from holdfast.client import Client, DaemonDown, DaemonLost
from holdfast.config import SOCKET, VERSION, Config, prepare

if TYPE_CHECKING:  # heavy: whoever only starts a daemon does not pay for it
    from holdfast.engine.engine import Engine
    from holdfast.server.desk import Desk
    from holdfast.server.listen import Front

    class System(Desk, Protocol):
        """What runs behind the front door. assembly.py has the real one."""

        async def start(self) -> object: ...
        async def stop(self) -> None: ...


LOG = logging.getLogger(__name__)
LOCK, READY, LOG_FILE = "daemon.lock", "daemon.json", "daemon.log"
LOG_BYTES = 10_000_000
START, STOP, POLL = 40.0, 40.0, 0.02  # seconds; a busy machine is slow, not broken
MakeSystem = Callable[[Path, Config], "System"]


class NoStart(Exception):
    """One clear sentence: why there is no daemon."""


class Wanted(NamedTuple):
    """How the daemon is to be reached. `port` None: 4653 or the next that is free."""

    port: int | None = None
    allow_hosts: tuple[str, ...] = ()


def assembled(home: Path, config: Config) -> "System":
    from holdfast.assembly import System  # noqa: PLC0415  names every adapter: only a daemon pays
    from holdfast.engine.secrets import keep_out_of_the_log  # noqa: PLC0415

    system = System(home, config)
    keep_out_of_the_log(system.secrets.every)
    return system


# --- the lock -------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(home: Path) -> Iterator[None]:
    """For as long as this lasts, this process is the daemon of that folder."""
    file = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not _take(file):
            raise NoStart(f"A daemon is running for {home}: {_who(home)}.")
        _nobody_answers(home)
        os.ftruncate(file, 0)
        os.write(file, json.dumps(_identity()).encode())
        yield
    finally:
        os.close(file)  # and with it the lock


def is_locked(home: Path) -> bool:
    try:
        file = os.open(home / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _take(file)
    finally:
        os.close(file)


def _take(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _nobody_answers(home: Path) -> None:
    """Somebody may have removed the lock's file from under a living daemon."""
    with contextlib.suppress(DaemonDown, DaemonLost):
        alive = Client(home).health()
        raise NoStart(f"A daemon is running for {home}: pid {alive.pid}. Its lock was removed.")


def _identity() -> dict[str, Any]:
    """One life of one process, for people who look. A bare pid is none: pids are reused."""
    pid, boot = os.getpid(), ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return {"boot": boot, "pid": pid, "start": _started(pid), "nonce": secrets.token_hex(8)}


def _started(pid: int) -> str:
    """When that process began; empty: it is no more, or nobody can tell here."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    return ""


def _who(home: Path) -> str:
    return f"pid {_holder(home).get('pid', 'unknown')}"


def _holder(home: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((home / LOCK).read_text())
        return found if isinstance(found, dict) else {}
    return {}


# --- the process ----------------------------------------------------------------------------------


def serve(config: Config, wanted: Wanted, make: MakeSystem = assembled) -> None:
    """Runs until told to stop. `NoStart` if it cannot."""
    prepare(config.home)
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    os.umask(0o077)
    with locked(config.home):
        asyncio.run(_live(config, wanted, make))


async def _live(config: Config, wanted: Wanted, make: MakeSystem) -> None:
    from holdfast.server.auth import keep_token  # noqa: PLC0415  not for those who only start one
    from holdfast.server.doors import PortTaken, bind_tcp, bind_unix  # noqa: PLC0415

    home = config.home
    leaving = Leaving()
    try:
        token = keep_token(home)
        tcp = bind_tcp(wanted.port)
    except (PortTaken, OSError, ValueError) as error:
        raise NoStart(str(error)) from error
    system = make(home, config)
    # What answers is loaded while the disk and git are waited for: half a second of imports.
    _, listen = await asyncio.gather(
        system.start(), asyncio.to_thread(import_module, "holdfast.server.listen")
    )
    try:
        front: Front = listen.Front(
            system,
            home=home,
            token=token,
            tcp=tcp,
            unix=bind_unix(home),
            allow_hosts=wanted.allow_hosts,
            version=VERSION,
            leave=leaving.now,
        )
        await _until_told(system, front, leaving)
    finally:
        await system.stop()
        for name in (READY, SOCKET):
            (home / name).unlink(missing_ok=True)


class Leaving:
    """Set when it is time to go."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.kill = False

    def now(self, kill: bool) -> None:  # noqa: FBT001  the one thing that is said
        self.kill = kill
        self._event.set()

    async def wait(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._event.set)
        await self._event.wait()


async def _until_told(system: "System", front: "Front", leaving: Leaving) -> None:
    await front.open()
    place = front.place
    ready = {
        "address": place.address,
        "socket": place.socket,
        "pid": os.getpid(),
        "version": place.version,
    }
    _write(Path(place.home) / READY, json.dumps(ready))
    LOG.info("ready at %s", place.address)
    await leaving.wait()
    LOG.info("going down")
    front.refuse_work()
    await say_goodbye(system.engine, kill=leaving.kill)
    await front.close()


async def say_goodbye(engine: "Engine", *, kill: bool) -> None:
    """What dies with us was interrupted by us, and says so (SPEC A4)."""
    from holdfast.core.inputs import OwnerLost  # noqa: PLC0415  as above
    from holdfast.ports import JournalError  # noqa: PLC0415

    for live in list(engine.sessions.values()):
        session = live.session
        if live.lease is None or not (session.run or session.agent_alive):
            continue
        outlives = engine.agents.abilities(session).survives_daemon
        if outlives and not kill:
            continue
        lost = OwnerLost(alive=None if outlives else False, stopping=True)
        try:
            await engine.submit(session.id, lost)
        except JournalError as error:
            LOG.warning("session %s: its end could not be written down: %s", session.id, error)


def _write(path: Path, text: str) -> None:
    """Whole or not at all: whoever sees it can read it."""
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.chmod(0o600)
    draft.replace(path)


# --- from outside -----------------------------------------------------------------------------------


def start_detached(home: Path, arguments: tuple[str, ...] = ()) -> None:
    """A daemon in a session of its own; returns when it is ready. One that runs is left alone."""
    prepare(home)
    log = home / LOG_FILE
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
    before = log.stat().st_size if log.exists() else 0
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        child = subprocess.Popen(  # noqa: S603  our own interpreter, our own module
            [sys.executable, "-m", "holdfast", "up", "--foreground", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd="/",
            start_new_session=True,
            env=_environment(home),
        )
    finally:
        os.close(out)
    _await_ready(home, child, log, before)


def _environment(home: Path) -> dict[str, str]:
    """As ours, so that it finds the same files; but it stands elsewhere."""
    named = {"HOLDFAST_HOME": str(home)} if "HOLDFAST_HOME" in os.environ else {}
    return {**os.environ, **named}


def _await_ready(home: Path, child: "subprocess.Popen[bytes]", log: Path, before: int) -> None:
    """Another one may have been quicker: then that is the daemon, and ours is gone."""
    client = Client(home)
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        if client.answers():
            return
        if child.poll() is not None and not is_locked(home):
            said = log.read_text(errors="replace")[before:].strip().rpartition("\n")[2]
            raise NoStart(f"The daemon did not start. {said.removeprefix('hold: ')}\nLog: {log}")
        time.sleep(POLL)
    raise NoStart(f"The daemon is not ready after {START:.0f} s: see {log}")


def awaits_end(home: Path) -> Callable[[], bool]:
    """Of the daemon that is there now: whether it was gone in time. Another may be started meanwhile, by
    whoever follows a run."""
    holder = _holder(home)
    pid, start = holder.get("pid", 0), holder.get("start", "")

    def gone() -> bool:
        deadline = time.monotonic() + STOP
        while time.monotonic() < deadline:
            if _started(pid) != start if start else not is_locked(home):
                return True
            time.sleep(POLL)
        return False

    return gone
