"""Talks to the daemon over its Unix socket, for the command line and for tests.

A command should answer before its user has looked up, so nothing heavy is loaded: the few lines of
HTTP that our own daemon speaks are read here (the standard library's client costs 40 ms, others a
quarter of a second), and what decodes values is loaded only when a value is wanted. A request is
sent again only where nothing of it can have arrived: when there was nobody to connect to.
"""

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from holdfast.config import SOCKET, TOKEN, short_address

if TYPE_CHECKING:
    from holdfast.wire import Health

T = TypeVar("T")
PATIENCE = 30.0  # seconds for an answer; a stream has its own
MANY = 3600.0  # the same where many are brought back, a few at a time
QUIET = 60.0  # seconds of a stream without even an empty line: the daemon hangs
KEYS = ("_API_KEY", "_BASE_URL")
# What the profiles of agents name (agents/profiles/*.toml; a test compares them): where an agent keeps its
# conversations, how it is let in.
AGENTS = (
    *(
        "AMP_",
        "ANTHROPIC_",
        "AUGMENT_",
        "AWS_",
        "CLAUDE_",
        "CODEX_",
        "COPILOT_",
        "DASHSCOPE_",
        "DISABLE_",
    ),
    *(
        "GEMINI_",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "GOOGLE_",
        "IS_SANDBOX",
        "MAX_THINKING_TOKENS",
        "OPENAI_",
    ),
    *("OPENCODE_", "QWEN_", "XDG_"),
)
KNOCKS = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between them
BAD = 400  # the first status that is an error


class DaemonDown(Exception):
    """Nobody answers at the socket."""


class DaemonLost(Exception):
    """The connection broke in the middle: what became of the request is not known."""


class ApiError(Exception):
    """The daemon's answer, where it is an error (SPEC J3)."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(body.get("code", "internal"))
        self.message = str(body.get("message", f"The daemon answered {status}."))
        self.hint = str(body.get("hint", ""))
        self.candidates = tuple(body.get("candidates", ()))
        super().__init__(f"{self.message} {self.hint}".strip())


class Exchange:
    """One request and its answer, on a connection of its own."""

    def __init__(self, home: Path, timeout: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            with short_address(home / SOCKET) as address:
                self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise DaemonDown(f"No daemon answers in {home}: {error.strerror}") from error
        self._file = self._socket.makefile("rb")
        self.status = 0
        self._length: int | None = None  # None: in chunks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"Content-Length: {len(body)}"] if body else []
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        try:
            self._socket.sendall(head + body)
            self._read_head()
        except (OSError, ValueError) as error:
            raise DaemonLost(f"The connection to the daemon broke: {error}") from error

    def _read_head(self) -> None:
        """A request that is too large is answered before it is read; so is this one."""
        self.status = int(self._line().split(b" ", 2)[1])
        while line := self._line().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                self._length = int(value)

    def _line(self) -> bytes:
        line = self._file.readline(65_536)
        if not line.endswith(b"\n"):
            raise ConnectionError("it ended in the middle")
        return line

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes."""
        try:
            if self._length is not None:
                yield self._exactly(self._length)
                return
            while size := int(self._line().split(b";")[0], 16):
                yield self._exactly(size)
                self._line()
        except (OSError, ValueError) as error:
            raise DaemonLost(f"The connection to the daemon broke: {error}") from error

    def _exactly(self, size: int) -> bytes:
        found = self._file.read(size)
        if len(found) < size:
            raise ConnectionError("it ended in the middle")
        return found


class Client:
    def __init__(self, home: Path, start: Callable[[], None] | None = None) -> None:
        self.home, self._start = home, start
        self._name = f"{os.getpid()}-{os.urandom(4).hex()}"

    # --- answers ----------------------------------------------------------------------------------

    def get(self, path: str, kind: type[T]) -> T:
        return self._value(self.call("GET", path), kind)

    def post(self, path: str, body: Any, kind: type[T], patience: float = PATIENCE) -> T:
        return self._value(self.call("POST", path, body, patience), kind)

    def surely(self, path: str, body: Any, kind: type[T]) -> T:
        """For what carries an id of its own: said once more if the daemon died before it answered."""
        try:
            return self.post(path, body, kind)
        except DaemonLost:
            self.knock()
            return self.post(path, body, kind)

    @staticmethod
    def _value(answer: bytes, kind: type[T]) -> T:
        import msgspec  # noqa: PLC0415  a sixth of a quick command's time

        return msgspec.json.decode(answer, type=kind)

    def health(self) -> "Health":
        from holdfast.wire import Health  # noqa: PLC0415  as above

        return self.get("/api/health", Health)

    def knock(self) -> None:
        """Starts it if it is gone. One that is just dying may still take a call and not answer."""
        for wait in KNOCKS:
            try:
                self.health()
            except DaemonLost:
                time.sleep(wait)
            else:
                return
        self.health()

    def answers(self) -> bool:
        """Is there a daemon?"""
        try:
            self.call("GET", "/api/health")
        except (DaemonDown, DaemonLost):
            return False
        return True

    def call(self, method: str, path: str, body: Any = None, patience: float = PATIENCE) -> bytes:
        with self._connected(patience) as exchange:
            self._ask(exchange, method, path, body)
            return b"".join(exchange.pieces())

    # --- streams ----------------------------------------------------------------------------------

    def stream(self, method: str, path: str, body: Any = None) -> Iterator[bytes]:
        """Lines as they come; empty ones are left out. Ends when the daemon says so."""
        with self._connected(QUIET) as exchange:
            self._ask(exchange, method, path, body)
            rest = b""
            for piece in exchange.pieces():
                *lines, rest = (rest + piece).split(b"\n")
                yield from (line + b"\n" for line in lines if line.strip())

    # --- one request ------------------------------------------------------------------------------

    def _connected(self, timeout: float) -> Exchange:
        try:
            return Exchange(self.home, timeout)
        except DaemonDown:
            if self._start is None:
                raise
        self._start()
        return Exchange(self.home, timeout)

    def _ask(self, exchange: Exchange, method: str, path: str, body: Any) -> None:
        sent = _encoded(body) if body is not None else b""
        headers = {"Authorization": f"Bearer {self._token()}", "X-Holdfast-Client": self._name}
        if sent:
            headers["Content-Type"] = "application/json"
        exchange.ask(method, path, headers, sent)
        if exchange.status >= BAD:
            raise ApiError(exchange.status, _error(b"".join(exchange.pieces())))

    def _token(self) -> str:
        try:
            return (self.home / TOKEN).read_text().strip()
        except OSError as error:
            raise DaemonDown(f"{self.home / TOKEN} cannot be read: {error.strerror}") from error


def _encoded(body: Any) -> bytes:
    """Too large is said here: the daemon would hang up before it has read all of it."""
    import msgspec  # noqa: PLC0415  as above

    from holdfast.wire import FRAME_BYTES  # noqa: PLC0415  as above

    try:
        sent = msgspec.json.encode(body)
    except UnicodeEncodeError as error:  # bytes of a pipe or an argument that no text has
        message = f"What was given is not text in UTF-8: {error.reason}."
        raise ApiError(422, {"code": "invalid", "message": message}) from error
    if len(sent) > FRAME_BYTES:
        message = f"That is {len(sent):,} bytes; {FRAME_BYTES:,} is the most."
        raise ApiError(413, {"code": "too_large", "message": message})
    return sent


def _error(answer: bytes) -> Mapping[str, Any]:
    import json  # noqa: PLC0415  as above

    try:
        found = json.loads(answer)["error"]
    except (ValueError, KeyError, TypeError):
        return {}  # not one of ours
    return found if isinstance(found, dict) else {}


def keys(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a provider or an agent needs (SPEC B1). Nothing else of the environment is
    sent."""
    return {n: v for n, v in environ.items() if n.endswith(KEYS) or n.startswith(AGENTS)}
