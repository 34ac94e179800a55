"""A process's output as lines, and the end of what it complains.

Whoever still holds the pipe after the process has exited does not hold us: what comes within a short
grace is read, then nothing more. A reader that is slow slows the process down; memory stays bounded.
"""

import asyncio
from typing import IO, Protocol

LONGEST = 32 << 20  # bytes of one line; more is no line of an agent
CHUNK = 1 << 16
EXIT_GRACE = 0.5  # seconds for what is still in the pipe after the exit
COMPLAINTS = 16_384  # bytes of standard error that are kept


class Process(Protocol):
    """What is needed of a running process; see runtimes."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    exited: asyncio.Event


class Output:
    """`open` it, then ask for `line` until it is None."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._reader = asyncio.StreamReader(limit=CHUNK)
        self._tail = _Tail()
        self._transports: (
            tuple[asyncio.ReadTransport, asyncio.ReadTransport, asyncio.WriteTransport] | None
        ) = None
        self._waiting: asyncio.Task[bytes] | None = None
        self._exit: asyncio.Task[bool] | None = None
        self._buffer = bytearray()
        self._lines: list[bytes] = []  # in reverse
        self._over = False
        self._skipping = False
        self.too_long = 0  # lines that were left out

    async def open(self, input: bytes) -> None:
        """`input` is given to it as it takes it; a process that does not read blocks nobody."""
        loop = asyncio.get_running_loop()
        process = self._process
        out, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), process.stdout
        )
        error, _ = await loop.connect_read_pipe(lambda: self._tail, process.stderr)
        write, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        self._transports = out, error, write
        write.write(input)
        write.write_eof()
        self._exit = asyncio.create_task(process.exited.wait())

    async def line(self, within: float | None) -> bytes | None:
        """The next one; None: there is no more. TimeoutError: nothing came in time."""
        while not self._lines:
            if self._over:
                return None
            await self._read(within)
        return self._lines.pop()

    def complaints(self) -> str:
        return self._tail.text()

    async def close(self) -> None:
        for task in (self._waiting, self._exit):
            if task is not None:
                task.cancel()
        if self._transports is not None:
            out, error, write = self._transports
            out.close()
            error.close()
            if write.get_write_buffer_size():  # it was never read to its end
                write.abort()
        await asyncio.sleep(0)  # transports close their pipes when the loop comes round

    async def _read(self, within: float | None) -> None:
        assert self._exit is not None
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._reader.read(CHUNK))
        exited = self._exit.done()
        for_what = {self._waiting} if exited else {self._waiting, self._exit}
        done, _ = await asyncio.wait(
            for_what,
            timeout=EXIT_GRACE if exited else within,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if self._waiting in done:
            data, self._waiting = self._waiting.result(), None
            self._split(data)
        elif exited:
            self._split(b"")
        elif not done:
            raise TimeoutError

    def _split(self, data: bytes) -> None:
        if not data:
            self._over = True
        if self._skipping:
            _, end, data = data.partition(b"\n")
            self._skipping = not end
        self._buffer += data
        if b"\n" in data or self._over:
            *whole, rest = bytes(self._buffer).split(b"\n")
            if self._over:
                whole.append(rest)
            self._buffer = bytearray(b"" if self._over else rest)
            self._lines = [line for line in reversed(whole) if line.strip()]
        elif len(self._buffer) > LONGEST:
            self._buffer.clear()
            self._skipping, self.too_long = True, self.too_long + 1


class _Tail(asyncio.Protocol):
    def __init__(self) -> None:
        self._kept = bytearray()

    def data_received(self, data: bytes) -> None:
        self._kept += data
        del self._kept[:-COMPLAINTS]

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace").strip()
