"""JSON-RPC with an agent's process over its pipes: the thin layer that survives what agents do.

Rule 1: one order. Updates, requests and answers are handled one after another as they came, so when an
        answer is handled every update before it is. A handler may wait for the journal; it must never
        wait for an answer of the agent, which would stand behind it.
Rule 2: what is not handled yet is bounded: beyond eight megabytes we stop reading until it is less.
Rule 3: a line is at most 32 MB long. A longer one is the end: what it held may be what we wait for.
Rule 4: what is no message is counted, not obeyed. What comes on stderr is read at once, so that nobody
        blocks on it; the last of it is kept as evidence.
Rule 5: the end of the process is the end, also while somebody else holds its pipe. It comes in order, after
        what was said before it, and to everybody who waits.
Rule 6: every wait has a limit. It starts again with each message that comes, so that a long replay is
        given time and silence is not.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import IO, Any, Protocol

import msgspec

from holdfast.agents.acp import frames
from holdfast.agents.acp.frames import NOTHING, Id, Message

LOG = logging.getLogger(__name__)
LONGEST_LINE = 32 << 20
HIGH, LOW = 8 << 20, 2 << 20  # bytes of lines that wait for their turn
STDERR_KEPT = 64 << 10
NOISE_KEPT = 5
EXIT_GRACE = 0.5  # seconds for what is still in the pipe after the exit
FAIR = 256  # messages after which others get a turn
METHOD_NOT_FOUND, CANCELLED = -32601, -32800

Handler = Callable[[Message], Awaitable[None] | None]
Then = Callable[["Answer"], Awaitable[None]]


class Process(Protocol):
    """What is needed of a running process; see runtimes."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    exited: asyncio.Event


class Gone(Exception):
    """The agent cannot be talked to any more. `ours`: we wanted that."""

    def __init__(self, why: str, *, ours: bool = False) -> None:
        super().__init__(why)
        self.why, self.ours = why, ours


class Silent(Exception):
    """It did not answer in time."""


class RpcFailed(Exception):
    def __init__(self, code: int, message: str, data: str = "") -> None:
        super().__init__(f"{message} {data}".strip() or f"error {code}")
        self.code, self.message, self.data = code, message, data


class Answer(msgspec.Struct):
    """What came back: a result or what went wrong."""

    result: msgspec.Raw = NOTHING
    failed: RpcFailed | Gone | None = None


class Connection:
    """`on_message` gets notifications and requests of the agent; `on_gone` is called last, once."""

    def __init__(
        self,
        process: Process,
        *,
        on_message: Handler,
        on_gone: Callable[[Gone], Awaitable[None]],
        longest_line: int = LONGEST_LINE,
    ) -> None:
        self._process, self._on_message, self._on_gone = process, on_message, on_gone
        self._lines = _Lines(self._wake_up, longest_line)
        self._errors = _Tail()
        self._ticks: deque[Callable[[], Awaitable[None] | None]] = deque()
        self._wake = asyncio.Event()
        self._waiting: dict[Id, Then] = {}
        self._next = 0
        self._closing: Gone | None = None
        self.gone: Gone | None = None
        self.noise = 0
        self.noise_seen: list[str] = []
        self.last_heard = 0.0
        self._loop = asyncio.get_running_loop()
        self._tasks: list[asyncio.Task[None]] = []
        self._write: asyncio.WriteTransport | None = None
        self._closers: list[asyncio.BaseTransport] = []

    async def open(self) -> None:
        process, loop = self._process, self._loop
        errors, _ = await loop.connect_read_pipe(lambda: self._errors, process.stderr)
        write, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        read, _ = await loop.connect_read_pipe(lambda: self._lines, process.stdout)
        self._write, self._closers = write, [read, errors]
        self.last_heard = loop.time()
        self._tasks = [asyncio.create_task(self._pump()), asyncio.create_task(self._watch_exit())]

    # --- saying ---------------------------------------------------------------------------------

    async def request(self, method: str, params: Any, *, limit: float) -> msgspec.Raw:
        """`Silent`, `RpcFailed` or `Gone` if it does not go well."""
        got: asyncio.Future[Answer] = self._loop.create_future()

        async def then(answer: Answer) -> None:
            if not got.done():
                got.set_result(answer)

        id = self.ask(method, params, then)
        began = self._loop.time()
        try:
            while not got.done():
                left = max(began, self.last_heard) + limit - self._loop.time()
                if left <= 0:
                    raise Silent(f"It did not answer {method} within {limit:.0f} s.")
                await asyncio.wait({got}, timeout=left)
        finally:
            self._waiting.pop(id, None)
        answer = got.result()
        if answer.failed is not None:
            raise answer.failed
        return answer.result

    def ask(self, method: str, params: Any, then: Then) -> Id:
        """`then` is called when its turn in the order has come."""
        self._next += 1
        id = self._next
        if self.gone is not None:
            self._ticks.append(lambda: then(Answer(failed=self.gone)))
            self._tasks.append(asyncio.create_task(self._drain()))
        else:
            self._waiting[id] = then
            self._say(frames.request(id, method, params))
        return id

    def notify(self, method: str, params: Any) -> None:
        self._say(frames.notification(method, params))

    def answer(self, id: Id, result: Any) -> None:
        self._say(frames.answer(id, result))

    def refuse(self, id: Id, code: int, message: str) -> None:
        self._say(frames.refusal(id, code, message))

    def _say(self, line: bytes) -> None:
        if self._write is not None and self.gone is None and not self._write.is_closing():
            self._write.write(line)

    def in_order(self, tick: Callable[[], Awaitable[None] | None]) -> None:
        """Calls `tick` between two messages: what a timer wants done."""
        self._ticks.append(tick)
        self._wake.set()

    # --- hearing --------------------------------------------------------------------------------

    async def _pump(self) -> None:
        try:
            why = await self._handle_all()
        except (
            Exception
        ) as error:  # the journal failed, or a fault of ours: nobody listens any more
            LOG.warning("an agent's messages cannot be handled: %s", error, exc_info=True)
            why = Gone(f"What it says cannot be handled: {type(error).__name__}: {error}")
        await self._close(why)

    async def _handle_all(self) -> Gone:
        handled = 0
        while True:
            line = self._lines.take()
            if self._ticks:
                await self._drain()
            if line is not None:
                waits = self._one(line)
                if waits is not None:
                    await waits
                handled += 1
                if not handled % FAIR:
                    await asyncio.sleep(0)
            elif (why := self._over()) is not None:
                return why
            else:
                self._wake.clear()
                if not self._lines.ready() and self._over() is None and not self._ticks:
                    await self._wake.wait()

    async def _drain(self) -> None:
        while self._ticks:
            waits = self._ticks.popleft()()
            if waits is not None:
                await waits

    def _one(self, line: bytes) -> Awaitable[None] | None:
        message = frames.parse(line)
        if message is None:
            self.noise += 1
            if len(self.noise_seen) < NOISE_KEPT:
                self.noise_seen.append(line[:200].decode("utf-8", "replace"))
            return None
        self.last_heard = self._loop.time()
        if message.method is not None:
            return self._on_message(message)
        return self._answered(message)

    def _answered(self, message: Message) -> Awaitable[None] | None:
        id = message.id
        if isinstance(id, str) and id.isdigit():  # so some agents give our number back
            id = int(id)
        then = self._waiting.pop(id, None) if id is not None else None
        if then is None:
            return None  # nobody waits for it any more
        if message.error is NOTHING:
            return then(Answer(result=message.result))
        error = frames.error_of(message.error)
        data = bytes(error.data)[:2000].decode("utf-8", "replace")
        return then(Answer(failed=RpcFailed(error.code, error.message, data)))

    def _wake_up(self) -> None:
        self._wake.set()

    # --- the end --------------------------------------------------------------------------------

    def stderr(self) -> str:
        return self._errors.text()

    def close(self, why: str = "it was closed") -> None:
        """Nothing more is read; whoever waits is told. Not the process's end: that is the caller's."""
        self._closing = self._closing or Gone(why, ours=True)
        self._wake.set()

    async def finished(self) -> None:
        """Returns when `on_gone` has returned."""
        await asyncio.wait(self._tasks[:1])

    def _over(self) -> Gone | None:
        if self._closing is not None:
            return self._closing
        if self._lines.too_long:
            return Gone(f"It sent a line longer than {self._lines.longest >> 20} MB.", ours=True)
        return Gone("It closed its output.") if self._lines.ended else None

    async def _watch_exit(self) -> None:
        """A grandchild may hold the pipe open: what comes within a short grace is read."""
        await self._process.exited.wait()
        while not self._lines.at_end.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(EXIT_GRACE):
                    await self._lines.at_end.wait()
            if not self._lines.paused:
                break
        self._lines.ended = True
        self._wake.set()

    async def _close(self, why: Gone) -> None:
        self.gone = why
        waiting, self._waiting = self._waiting, {}
        for then in waiting.values():
            try:
                await then(Answer(failed=why))
            except Exception as error:  # noqa: BLE001  the others are told, and the end is the end
                LOG.warning("what an agent last said is lost: %s", error)
        self._tasks[1].cancel()
        for pipe in self._closers:
            pipe.close()
        if self._write is not None and not self._write.is_closing():
            self._write.abort()  # what it has not read it will not read
        await self._on_gone(why)


class _Lines(asyncio.Protocol):
    """Splits what is read into lines, with a bound on all that waits."""

    def __init__(self, wake: Callable[[], None], longest: int) -> None:
        self._wake, self.longest = wake, longest
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._parts: list[bytes] = []
        self._length = 0
        self.paused = False
        self._pipe: asyncio.ReadTransport | None = None
        self.too_long = False
        self.ended = False
        self.at_end = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._pipe = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self.at_end.set()
        self._wake()

    def data_received(self, data: bytes) -> None:
        if self.too_long:
            return
        *whole, rest = data.split(b"\n")
        if whole:
            if self._parts:
                self._parts.append(whole[0])
                whole[0] = b"".join(self._parts)
                self._parts, self._length = [], 0
            self._queue.extend(whole)
            self._bytes += sum(map(len, whole)) + len(whole)
        if rest:
            self._parts.append(rest)
            self._length += len(rest)
            if self._length > self.longest:
                self.too_long, self._parts = True, []
        if self._bytes > HIGH and not self.paused and self._pipe is not None:
            self.paused = True
            self._pipe.pause_reading()
        self._wake()

    def ready(self) -> bool:
        return bool(self._queue)

    def take(self) -> bytes | None:
        while self._queue:
            line = self._queue.popleft()
            self._bytes -= len(line) + 1
            if self.paused and self._bytes < LOW and self._pipe is not None:
                self.paused = False
                self._pipe.resume_reading()
            if line:
                return line
        self._bytes = 0
        return None


class _Tail(asyncio.Protocol):
    """The last of what comes on stderr."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def data_received(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * STDERR_KEPT:
            del self._kept[:-STDERR_KEPT]

    def text(self) -> str:
        return self._kept[-STDERR_KEPT:].decode("utf-8", "replace")
