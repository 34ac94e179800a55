"""A process that lives on and is talked to over its pipes.

Rule 1: argv, never a shell line; the environment is what is passed in, and our cookie.
Rule 2: it leads a session of its own, so that its whole tree can be found and ended (processes.py).
Rule 3: how to find it again after our own death is known before anything is said to it.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from holdfast.core.session import Handle
from holdfast.runtimes.child import Child, raise_oom_score
from holdfast.runtimes.processes import COOKIE, Process, carrying, end, everyone, look, tree

BOOT = Path("/proc/sys/kernel/random/boot_id")


class Piped(Child):
    """`stdin`, `stdout` and `stderr` belong to whoever talks to it, who also closes them."""

    def __init__(self, process: subprocess.Popen[bytes], cookie: str) -> None:
        super().__init__(process, cookie)
        assert process.stdin and process.stdout and process.stderr
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout
        self.stderr: IO[bytes] = process.stderr
        found = look(process.pid)
        self.handle = Handle(
            pid=process.pid, boot=_boot(), start=str(found.start) if found else "", name=cookie
        )


def start(argv: Sequence[str], *, cwd: str, env: Mapping[str, str], cookie: str) -> Piped:
    """OSError: it could not be started."""
    process = subprocess.Popen(  # noqa: S603  argv is from our own tables
        list(argv),
        cwd=cwd,
        env={**env, COOKIE: cookie},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    raise_oom_score(process.pid)
    return Piped(process, cookie)


async def end_of(cookie: str, handle: Handle | None) -> tuple[int, ...] | None:
    """After our own death: ends whatever is left of a launch, by its cookie and by its group. Returns
    pids that would not die; None: nobody can tell here."""
    if not _boot():
        return None
    return tuple(p.pid for p in await end(lambda: [*carrying(cookie), *_group(handle)]))


def _group(handle: Handle | None) -> list[Process]:
    """A group keeps its leader's number from being given to anybody else. Only if the number is a
    stranger's now, or of another boot, is there nobody left of it."""
    if handle is None or not handle.pid or handle.boot != _boot():
        return []
    leader = look(handle.pid)
    if leader is not None and str(leader.start) != handle.start:
        return []
    return tree(handle.pid, among=everyone())


def _boot() -> str:
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""
