"""The one caller of git (SPEC H3). Nothing else in this program starts it.

Rule 1: an argument list, never a shell; names go in through standard input, separated by NUL.
Rule 2: the environment is made from nothing: no variable of ours or the user's reaches git.
Rule 3: whatever in a repository could name a program is switched off here, on every call. That is
the second wall: the first is that git does not read the repository's configuration (shadow.py).
Rule 4: git ends: after a time limit, or when nobody waits any more, with its whole process group.
"""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from holdfast.core.value import Value
from holdfast.workspaces.errors import GitFailed, GitMissing, GitTimedOut, TooMuch

SECONDS = 120.0
CAP = 256 << 20  # bytes of one answer
PIECE = 1 << 16
STDERR_CAP = 1 << 16
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

# No `-c diff.external=`: git would try to run a program with an empty name. `--no-ext-diff` does it.
HARDENED = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.sparseCheckout=false",
    "protocol.allow=never",
    "credential.helper=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "safe.bareRepository=explicit",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gpg.program=false",
    "log.showSignature=false",
    "diff.ignoreSubmodules=dirty",
    "gc.auto=0",
    "maintenance.auto=false",
    "rerere.enabled=false",
    "advice.detachedHead=false",
    "advice.addEmbeddedRepo=false",
)

Boundary = Callable[[str], None]


def nowhere(_name: str) -> None:
    """A boundary at which nothing happens."""


class Output(Value):
    code: int
    out: bytes
    err: str
    cut: bool = False  # there was more than was asked for

    @property
    def text(self) -> str:
        return as_text(self.out)

    @property
    def line(self) -> str:
        return self.text.strip("\n")

    @property
    def names(self) -> list[bytes]:
        return [name for name in self.out.split(b"\0") if name]


class Git(Value):
    """How git is called: which one, how long, and a boundary where tests pull the plug."""

    program: str = ""  # an absolute path; empty: the first on PATH
    seconds: float = SECONDS
    boundary: Boundary = nowhere

    async def run(
        self,
        *args: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        ok: Collection[int] = (0,),
        cap: int = CAP,
        cut: bool = False,
    ) -> Output:
        """`cut`: more than `cap` bytes are cut off and said to be so; otherwise that is an error."""
        words = [a for a in args if not a.startswith("-")]
        command = words[0] if words else "?"
        self.boundary(f"{command}:before")
        argv = [self._found(), "--no-pager", "--literal-pathspecs", *_settings(), *args]
        process = await _started(argv, cwd=cwd, env={**_environment(argv[0]), **(env or {})})
        try:
            async with asyncio.timeout(self.seconds):
                output = await _talk(process, stdin, cap)
        except BaseException as error:
            _kill(process)  # and whatever of its group outlives it
            await process.wait()
            if isinstance(error, TimeoutError):
                message = f"git {command} did not answer within {self.seconds:g} seconds."
                raise GitTimedOut(message) from None
            raise
        self.boundary(f"{command}:after")
        if output.cut and not cut:
            raise TooMuch(f"git {command} said more than {cap >> 20} MB.")
        if output.code not in ok and not output.cut:
            raise GitFailed(command, output.code, output.err)
        return output

    def _found(self) -> str:
        folders = os.environ.get("PATH", SYSTEM_PATH).split(":")
        absolute = ":".join(f for f in folders if f.startswith("/"))  # never the folder we are in
        found = self.program or shutil.which("git", path=absolute)
        if not found:
            raise GitMissing("git is not installed, or not on PATH.")
        return found


PLAIN = Git()


def as_text(raw: bytes) -> str:
    """Bytes that are no text become U+FFFD: what is journaled and shown must be valid."""
    return raw.decode("utf-8", "replace")


def _settings() -> list[str]:
    return [word for setting in HARDENED for word in ("-c", setting)]


def _environment(program: str) -> dict[str, str]:
    return {
        "PATH": f"{Path(program).parent}:{SYSTEM_PATH}",
        "HOME": "/dev/null",
        "XDG_CONFIG_HOME": "/dev/null",
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ASKPASS": "false",
        "GIT_SSH_COMMAND": "false",
        "GIT_EDITOR": "false",
        "GIT_ALLOW_PROTOCOL": "none",
    }


# --- the process --------------------------------------------------------------------------------


async def _started(
    argv: list[str], *, cwd: Path, env: Mapping[str, str]
) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=dict(env),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,  # so that the whole group can be ended
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        if error.filename == str(cwd):
            raise
        raise GitMissing(f"git could not be started: {error}.") from error


async def _talk(process: asyncio.subprocess.Process, stdin: bytes, cap: int) -> Output:
    assert process.stdout is not None and process.stderr is not None
    _, (out, cut), (err, _) = await asyncio.gather(
        _feed(process, stdin),
        _read(process.stdout, cap, process),
        _read(process.stderr, STDERR_CAP, None),
    )
    code = await process.wait()
    return Output(code=code, out=out, err=as_text(err), cut=cut)


async def _feed(process: asyncio.subprocess.Process, stdin: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()


async def _read(
    stream: asyncio.StreamReader, cap: int, victim: asyncio.subprocess.Process | None
) -> tuple[bytes, bool]:
    """Up to `cap` bytes. The rest is not waited for: its writer, if given, is ended."""
    kept, size = [], 0
    while piece := await stream.read(PIECE):
        if size < cap:
            kept.append(piece[: cap - size])
        size += len(piece)
        if size > cap and victim is not None:
            _kill(victim)
    return b"".join(kept), size > cap


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
