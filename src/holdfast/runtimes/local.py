"""Runs a command on this machine to its end, and ends all that it began.

Rule 1: argv, never a shell line. The environment is an allow-list plus what is passed in.
Rule 2: the command leads a session of its own and carries a cookie, so that its whole tree can be
found (processes.py). On a timeout or a cancel the tree is gone before `run` returns.
Rule 3: output is read as it comes and never held whole: the head and the tail are kept. Both streams
share one pipe, so they stay in order.
Rule 4: whoever still holds the pipe after the command has exited does not hold us: what comes within
a short grace is read, then nothing more.
Rule 5: the kernel, when it runs out of memory, shall take a command before it takes us.
"""

import asyncio
import contextlib
import itertools
import os
import subprocess
import tempfile
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from holdfast.core.value import Value
from holdfast.runtimes.child import Child, raise_oom_score
from holdfast.runtimes.processes import COOKIE, carrying, end

ALLOWED = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM"}
)
READ_GRACE = 0.25  # seconds for what is still in the pipe after the exit
CHUNK = 65536


class Finished(Value):
    """How a command ended. `output` is both streams; if `size` is more, its middle is left out."""

    exit_code: int | None = None
    signal: int | None = None
    output: bytes = b""
    size: int = 0
    timed_out: bool = False
    held: bool = False  # something that it began lives on and holds its output
    survivors: tuple[int, ...] = ()  # pids that even SIGKILL did not end


class LocalRuntime:
    """Starts commands. In whose name is said by the cookie, `session:launch`, in the environment that
    is passed in, or here for all."""

    def __init__(self, cookie: str = "unnamed") -> None:
        self._cookie = cookie
        self._numbers = itertools.count(1)

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | Path,
        env: Mapping[str, str],
        timeout: float,  # noqa: ASYNC109  a limit of the command, not of this call
        input: bytes | None = None,
        output_limit: int,
    ) -> Finished:
        """OSError: it could not be started."""
        # Each command has its own cookie: a timeout must not end what another one began.
        cookie = f"{env.get(COOKIE, self._cookie)}:{os.getpid()}.{next(self._numbers)}"
        variables = scrubbed(os.environ, {**env, COOKIE: cookie})
        kept = _Kept(output_limit)
        with _started(argv, cwd=cwd, env=variables, input=input) as (process, pipe):
            raise_oom_score(process.pid)
            running = _Running(process, pipe, kept, cookie)
            try:
                return await running.finish(timeout)
            except BaseException:
                await _despite_cancels(running.end())
                raise
            finally:
                running.close()


async def sweep(cookie: str) -> tuple[int, ...]:
    """After a crash: ends whatever still carries this cookie. Returns pids that would not die."""
    return tuple(p.pid for p in await end(lambda: carrying(cookie)))


def scrubbed(environ: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """What a child may know of our environment, with what it is given."""
    kept = {k: v for k, v in environ.items() if k in ALLOWED or k.startswith("LC_")}
    return {**kept, **extra}


class _Kept:
    """The first and the last bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self.size = 0
        self._head, self._tail = bytearray(), bytearray()
        self._room, self._last = limit - limit // 2, limit // 2

    def add(self, data: bytes) -> None:
        self.size += len(data)
        fits = max(0, self._room - len(self._head))
        self._head += data[:fits]
        self._tail += data[fits:]
        if len(self._tail) > 2 * self._last + CHUNK:  # now and then, not for every piece
            self._cut()

    def bytes(self) -> bytes:
        self._cut()
        left_out = self.size - len(self._head) - len(self._tail)
        note = f"\n[... {left_out} bytes left out ...]\n".encode() if left_out else b""
        return bytes(self._head + note + self._tail)

    def _cut(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._last)]


class _Running(Child):
    """A command that has been started, and what it says."""

    def __init__(
        self, process: subprocess.Popen[bytes], pipe: int, kept: _Kept, cookie: str
    ) -> None:
        super().__init__(process, cookie)
        self._pipe, self._kept = pipe, kept
        self._eof = asyncio.Event()
        os.set_blocking(pipe, False)
        self._loop.add_reader(pipe, self._read)

    async def finish(self, timeout: float) -> Finished:  # noqa: ASYNC109  see run
        timed_out = not await self.exited_within(timeout)
        survivors = await self.end() if timed_out else []
        held = not await self._drained()
        code = self.code()
        return Finished(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            output=self._kept.bytes(),
            size=self._kept.size,
            timed_out=timed_out,
            held=held,
            survivors=tuple(p.pid for p in survivors),
        )

    def close(self) -> None:
        self._loop.remove_reader(self._pipe)
        super().close()

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._kept.add(data)
        if not data:
            self._loop.remove_reader(self._pipe)
            self._eof.set()

    async def _drained(self) -> bool:
        """Whether the pipe came to its end, soon enough."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READ_GRACE):
                await self._eof.wait()
        return self._eof.is_set()


@contextlib.contextmanager
def _started(
    argv: Sequence[str], *, cwd: str | Path, env: Mapping[str, str], input: bytes | None
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The process and the reading end of its output."""
    reading, writing = os.pipe()
    try:
        with _stdin(input) as stdin:
            process = subprocess.Popen(  # noqa: S603  argv comes from our own tables
                list(argv),
                cwd=cwd,
                env=dict(env),
                stdin=stdin,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    try:
        yield process, reading
    finally:
        os.close(reading)


@contextlib.contextmanager
def _stdin(input: bytes | None) -> Iterator[int | IO[bytes]]:
    """A file rather than a pipe: a command that does not read it blocks nobody."""
    if input is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(input)
        file.seek(0)
        yield file


async def _despite_cancels(work: Coroutine[Any, Any, object]) -> None:
    """A second cancel must not leave the tree half dead."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()
