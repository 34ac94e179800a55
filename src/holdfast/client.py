"""Talks to the daemon over its Unix socket, for the command line and for tests.

The standard library's HTTP client, because a command should answer before its user has looked up:
another one costs a quarter of a second. A request is sent again only where nothing of it can have
arrived: when there was nobody to connect to.
"""

import contextlib
import http.client
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from holdfast.config import SOCKET, TOKEN, short_address
from holdfast.wire import ErrorBody, ErrorOut, Health

T = TypeVar("T")
PATIENCE = 30.0  # seconds for an answer; a stream has its own
QUIET = 60.0  # seconds of a stream without even an empty line: the daemon hangs
KEYS = ("_API_KEY", "_BASE_URL")


class DaemonDown(Exception):
    """Nobody answers at the socket."""


class DaemonLost(Exception):
    """The connection broke in the middle: what became of the request is not known."""


class ApiError(Exception):
    def __init__(self, status: int, body: ErrorBody) -> None:
        super().__init__(f"{body.message} {body.hint}".strip())
        self.status, self.code, self.message, self.hint = (
            status,
            body.code,
            body.message,
            body.hint,
        )
        self.candidates = body.candidates


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        with short_address(self._path) as address:
            self.sock.connect(address)


class Client:
    def __init__(self, home: Path, start: Callable[[], None] | None = None) -> None:
        self.home, self._start = home, start
        self._name = f"{os.getpid()}-{os.urandom(4).hex()}"

    # --- answers ----------------------------------------------------------------------------------

    def get(self, path: str, kind: type[T]) -> T:
        return msgspec.json.decode(self.call("GET", path), type=kind)

    def post(self, path: str, body: Any, kind: type[T]) -> T:
        return msgspec.json.decode(self.call("POST", path, body), type=kind)

    def health(self) -> Health:
        return self.get("/api/health", Health)

    def call(self, method: str, path: str, body: Any = None) -> bytes:
        with contextlib.closing(self._connected(PATIENCE)) as connection:
            return self._ask(connection, method, path, body).read()

    # --- streams ----------------------------------------------------------------------------------

    def stream(self, method: str, path: str, body: Any = None) -> Iterator[bytes]:
        """Lines as they come; empty ones are left out. Ends when the daemon says so."""
        with contextlib.closing(self._connected(QUIET)) as connection:
            answer = self._ask(connection, method, path, body)
            try:
                while line := answer.readline():
                    if line.strip():
                        yield line
            except (OSError, http.client.HTTPException) as error:
                raise DaemonLost("The connection to the daemon broke.") from error

    # --- one request ------------------------------------------------------------------------------

    def _connected(self, timeout: float) -> UnixConnection:
        try:
            return self._connect(timeout)
        except DaemonDown:
            if self._start is None:
                raise
        self._start()
        return self._connect(timeout)

    def _connect(self, timeout: float) -> UnixConnection:
        connection = UnixConnection(self.home / SOCKET, timeout)
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise DaemonDown(f"No daemon answers in {self.home}: {error.strerror}") from error
        return connection

    def _ask(
        self, connection: UnixConnection, method: str, path: str, body: Any
    ) -> http.client.HTTPResponse:
        sent = msgspec.json.encode(body) if body is not None else None
        headers = {"Authorization": f"Bearer {self._token()}", "X-Holdfast-Client": self._name}
        if sent is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, body=sent, headers=headers)
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise DaemonLost(f"The connection to the daemon broke: {error}") from error
        if answer.status >= http.client.BAD_REQUEST:
            raise ApiError(answer.status, _error(answer))
        return answer

    def _token(self) -> str:
        try:
            return (self.home / TOKEN).read_text().strip()
        except OSError as error:
            raise DaemonDown(f"{self.home / TOKEN} cannot be read: {error.strerror}") from error


def _error(answer: http.client.HTTPResponse) -> ErrorBody:
    body = answer.read()
    try:
        return msgspec.json.decode(body, type=ErrorOut).error
    except msgspec.DecodeError:
        return ErrorBody(code="internal", message=f"The daemon answered {answer.status}.")


def keys(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a provider needs (SPEC B1). Nothing else of the environment is sent."""
    return {name: value for name, value in environ.items() if name.endswith(KEYS)}
