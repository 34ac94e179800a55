"""A throw-away PostgreSQL: real binaries, real fsync, a free loopback port, gone at the end.

Works as a plain user, and as root by becoming `postgres` or `nobody`, for the server refuses root.
The folder is made by mkdtemp, not under pytest's own, whose parents nobody else may enter. The server
ends with whoever started it, also by kill -9: a shell stands between them and reads from us until it
cannot.

    with cluster() as dsn:
        ...
"""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

MISSING = (
    "PostgreSQL's initdb and postgres: set HOLDFAST_PG_BIN to their folder, or install them "
    "(Debian: apt-get install postgresql)"
)
SAFE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on")
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin")


WATCHED = '"$@" </dev/null & read _; kill -QUIT $!; wait $!'
PATIENCE = 60  # seconds for a server to come up, and to go


class NoPostgres(Exception):
    """Its programs are not here."""


def binaries() -> Path:
    for folder in _candidates():
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    raise NoPostgres(MISSING)


def _candidates() -> Iterator[Path]:
    if told := os.environ.get("HOLDFAST_PG_BIN"):
        yield Path(told)
    for place in PLACES:
        yield from sorted(Path("/").glob(place.lstrip("/")), reverse=True)
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent


@contextlib.contextmanager
def cluster(*settings: str) -> Iterator[str]:
    """Gives a connection string. `settings` are the server's own: `max_connections=20`."""
    with server(*settings) as running:
        yield running.dsn


@contextlib.contextmanager
def server(*settings: str) -> Iterator["Server"]:
    """The same, for tests that stop and start it."""
    programs = binaries()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-postgres-"))
    running = Server(programs, folder, settings)
    try:
        running.make()
        running.start()
        yield running
    finally:
        running.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    def __init__(self, programs: Path, folder: Path, settings: tuple[str, ...]) -> None:
        self._programs, self._folder, self._settings = programs, folder, settings
        self._who = _somebody()
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.dsn = f"host=127.0.0.1 port={self._port} user=holdfast dbname=postgres"

    def make(self) -> None:
        if self._who:
            os.chown(self._folder, self._who["user"], self._who["group"])
        options = ("-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        making = self._run([*self._program("initdb"), "-U", "holdfast", *options])
        making.communicate()
        if making.returncode != 0:
            raise RuntimeError(self._log())

    def start(self) -> None:
        options = [*SAFE, *self._settings, "jit=off", "listen_addresses=127.0.0.1"]
        options.append(f"unix_socket_directories={self._folder}")
        words = [word for option in options for word in ("-c", option)]
        program = [*self._program("postgres"), "-p", str(self._port), *words]
        self._process = self._run(["/bin/sh", "-c", WATCHED, "sh", *program])
        self._wait_until_up()

    def kill(self) -> None:
        """At once, without a word to anybody: what SIGQUIT is for."""
        if self._process is not None:
            self._process.communicate(timeout=PATIENCE)  # closes what the shell reads from
            self._process = None

    def _program(self, name: str) -> tuple[str, ...]:
        return (str(self._programs / name), "-D", str(self._folder / "data"))

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self._folder,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._who,
            )

    def _wait_until_up(self) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self.dsn, connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise RuntimeError(self._log()) from None
                time.sleep(0.02)
            else:
                return

    def _log(self) -> str:
        return (self._folder / "log").read_text(encoding="utf-8", errors="replace")


def _somebody() -> dict:
    """Who the server runs as. Nothing: as we do."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise NoPostgres("a user that is not root: postgres or nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
