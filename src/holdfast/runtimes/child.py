"""A process that we started: when it exits, and that its whole tree can be ended.

Its exit is not collected before we are done with it, so its pid, and the group it leads, stay its own.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from pathlib import Path

from holdfast.runtimes.processes import GRACE, Process, carrying, end, everyone, tree

OOM_SCORE = 300  # more than ours
OOM_MOST = 1000


class Child:
    """`cookie` is in its environment, and in that of whatever it starts."""

    def __init__(self, process: subprocess.Popen[bytes], cookie: str) -> None:
        self._process, self._cookie = process, cookie
        self._loop = asyncio.get_running_loop()
        self.exited = asyncio.Event()
        self._handle: int | None = None
        self._waiter: asyncio.Task[None] | None = None
        if hasattr(os, "pidfd_open"):
            self._handle = os.pidfd_open(process.pid)
            self._loop.add_reader(self._handle, self._on_exit, self._handle)
        else:
            self._waiter = asyncio.create_task(self._wait_in_thread())

    @property
    def pid(self) -> int:
        return self._process.pid

    def code(self) -> int | None:
        """As `Popen` says it: a signal is negative. Collects the exit: ask when all is over."""
        return self._process.poll()

    async def exited_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        return self.exited.is_set()

    def interrupt(self) -> None:
        """As Ctrl-C does. Its exit is not collected, so the pid is nobody else's."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._process.pid, signal.SIGINT)

    async def end(self) -> list[Process]:
        """The whole tree. It is looked at before the first blow: a child whose parent has died can
        no longer be told from a stranger, if it left our cookie behind."""
        known = self._find()
        self._stroke(signal.SIGTERM)
        if self._handle is None:
            await self.exited_within(GRACE)  # nothing to look at here but the group
        left = await end(self._find, known=known)
        self._stroke(signal.SIGKILL)
        await self.exited_within(1)
        return left

    def close(self) -> None:
        """Collects the exit, if there was one."""
        if self._handle is not None:
            self._loop.remove_reader(self._handle)
            os.close(self._handle)
            self._handle = None
        if self._waiter is not None:
            self._waiter.cancel()
        if self._process.poll() is None:
            # It hangs in the kernel. Said in `survivors`; the interpreter need not warn as well.
            self._process.returncode = -signal.SIGKILL

    def _stroke(self, number: signal.Signals) -> None:
        # Its leader is not collected yet, so the group's number cannot be anybody else's.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _find(self) -> list[Process]:
        return [*tree(self._process.pid, among=everyone()), *carrying(self._cookie)]

    def _on_exit(self, handle: int) -> None:
        self._loop.remove_reader(handle)  # it stays readable for ever
        self.exited.set()

    async def _wait_in_thread(self) -> None:
        await asyncio.to_thread(self._process.wait)
        self.exited.set()


def raise_oom_score(pid: int) -> None:
    """The kernel, when it runs out of memory, shall take a child before it takes us. Also those that
    were born before this was written. Raising it needs no privilege."""
    try:
        ours = int(Path("/proc/self/oom_score_adj").read_text("ascii"))
    except (OSError, ValueError):
        return
    wanted = str(min(OOM_MOST, max(ours, 0) + OOM_SCORE))
    ahead = [pid]
    while ahead:
        one = ahead.pop()
        with contextlib.suppress(OSError):
            Path(f"/proc/{one}/oom_score_adj").write_text(wanted, "ascii")
            children = Path(f"/proc/{one}/task/{one}/children").read_text("ascii")
            ahead += [int(child) for child in children.split()]
