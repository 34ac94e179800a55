"""Which agents are on this machine, in which version, and whether they know the flags we use.

What a program says of itself is asked once for each file that it is (path, size, time), and kept
beside the journal: a program that was updated is another file.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Protocol

import msgspec

from holdfast.agents.profiles.load import Profiles
from holdfast.agents.profiles.profile import Profile
from holdfast.agents.transcripts.present import rooted
from holdfast.core.value import Value

PATIENCE = 30.0  # seconds for a program to say its version: some take five on a busy machine
ENOUGH = 200_000  # bytes of help
VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:[\w.+-]*\w)?")


class Finished(Protocol):
    @property
    def output(self) -> bytes: ...
    @property
    def exit_code(self) -> int | None: ...


class Run(Protocol):
    async def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | Path,
        env: Mapping[str, str],
        timeout: float,  # noqa: ASYNC109
        output_limit: int,
    ) -> Finished: ...


class Probed(Value):
    """What a program said of itself."""

    version: str = ""
    missing: tuple[str, ...] = ()  # flags that we use and its help does not name
    error: str = ""


class AgentRow(Value, omit_defaults=False):
    """An agent, for `hold agent ls` and `hold doctor`."""

    name: str
    title: str
    installed: bool
    path: str
    version: str
    via: tuple[str, ...]  # those whose program is installed
    chooses_id: bool
    resumes: bool
    forks: bool
    modes: tuple[str, ...]
    missing_flags: tuple[str, ...]
    quirks: tuple[str, ...]
    problem: str
    hint: str
    logged_in: bool = False  # its key or its file is where it should be; False: nobody can tell
    login: str = ""  # how to let it in, for people


class Installed:
    def __init__(self, profiles: Profiles, run: Run, cache: Path) -> None:
        self._profiles, self._run, self._cache = profiles, run, cache

    def ways(self, name: str, path: str | None = None) -> tuple[str, ...]:
        """Those that the agent can be run by here, best first."""
        known = self._profiles.get(name)
        programs = known.programs() if known else {}
        return tuple(way for way, program in programs.items() if shutil.which(program, path=path))

    async def rows(self, *, ask: bool = True) -> list[AgentRow]:
        """`ask` False: no program is started; what was not asked before stays unknown."""
        probes = self._read()
        before = dict(probes)
        rows = await asyncio.gather(
            *(self._row(name, one, probes, ask=ask) for name, one in self._profiles.all())
        )
        if probes != before and self._cache.parent.is_dir():
            await asyncio.to_thread(self._write, probes)
        broken = [
            _broken(name, mistake) for name, mistake in sorted(self._profiles.mistakes.items())
        ]
        return [*rows, *broken]

    async def _row(
        self, name: str, known: Profile, probes: dict[str, Probed], *, ask: bool
    ) -> AgentRow:
        ways = self.ways(name)
        path = shutil.which(known.program) or ""
        probed = await self._probed(known, path, probes, ask=ask) if path else Probed()
        commands = known.oneshot or known.terminal
        problem = probed.error or ("" if ways else "not installed")
        hint = known.install if not ways and known.install else known.login
        return AgentRow(
            name=name,
            title=known.title,
            installed=bool(ways),
            path=path,
            version=probed.version,
            via=ways,
            chooses_id=commands is not None and commands.chooses_id,
            resumes=commands is not None and bool(commands.resume),
            forks=commands is not None and bool(commands.fork),
            modes=tuple(sorted(known.modes(ways[0] if ways else known.via[0]))),
            missing_flags=probed.missing,
            quirks=tuple(q.about for q in known.quirks if q.applies(probed.version)),
            problem=problem,
            hint=hint if problem else "",
            logged_in=_logged_in(known, os.environ),
            login=known.login,
        )

    async def _probed(
        self, known: Profile, path: str, probes: dict[str, Probed], *, ask: bool
    ) -> Probed:
        try:
            about = os.stat(path)  # noqa: PTH116  one look, through links; not worth a thread
        except OSError as error:
            return Probed(error=f"{path}: {error.strerror}")
        key = f"{path}:{about.st_size}:{about.st_mtime_ns}"
        if key not in probes and not ask:
            return Probed()
        if key not in probes:
            probed = await self._ask(known)
            if probed.error:
                return probed  # perhaps it was only slow: asked again the next time
            probes[key] = probed
        return probes[key]

    async def _ask(self, known: Profile) -> Probed:
        said = await self._said([known.program, *known.version])
        found = VERSION.search(said or "")
        if found is None:
            return Probed(error=f"{known.program} does not say its version")
        if known.oneshot is None:
            return Probed(version=found[0])
        words = known.oneshot.resume or known.oneshot.start
        named = takewhile(lambda word: not word.startswith("-"), words)
        command = [word for word in named if not word.startswith("{")]  # `codex exec resume`
        text = await self._said([*command, "--help"]) or ""
        flags = {w.partition("=")[0] for w in words if w.startswith("-") and len(w) > 1}
        missing = sorted(f for f in flags if not re.search(rf"(?<![\w-]){re.escape(f)}\b", text))
        return Probed(version=found[0], missing=tuple(missing) if text else ())

    async def _said(self, argv: Sequence[str]) -> str | None:
        try:
            finished = await self._run(
                argv, cwd=Path.home(), env={}, timeout=PATIENCE, output_limit=ENOUGH
            )
        except OSError:
            return None
        return finished.output.decode("utf-8", "replace")

    def _read(self) -> dict[str, Probed]:
        try:
            return msgspec.json.decode(self._cache.read_bytes(), type=dict[str, Probed])
        except (OSError, msgspec.DecodeError):
            return {}  # asked again

    def _write(self, probes: Mapping[str, Probed]) -> None:
        draft = self._cache.with_suffix(f".{os.getpid()}.draft")
        draft.write_bytes(msgspec.json.encode(probes))
        draft.chmod(0o600)
        draft.replace(self._cache)


def not_installed(agent: str, program: str, *, path: str, install: str) -> str:
    """Why its program cannot be started, and what to do; empty: it is there."""
    if shutil.which(program, path=path) is not None:
        return ""
    where = f"there is no {program}" if "/" in program else f"{program} is not on the PATH"
    return f"{agent} is not installed: {where}." + (f" Install it: {install}" if install else "")


def _logged_in(known: Profile, environ: Mapping[str, str]) -> bool:
    if any(environ.get(key) for key in known.keys):
        return True
    files = (rooted(path, environ) for path in known.credentials)
    return any(file is not None and file.is_file() for file in files)


def _broken(name: str, mistake: str) -> AgentRow:
    return AgentRow(
        name=name,
        title=name,
        installed=False,
        path="",
        version="",
        via=(),
        chooses_id=False,
        resumes=False,
        forks=False,
        modes=(),
        missing_flags=(),
        quirks=(),
        problem=mistake,
        hint="Correct it in the configuration.",
    )
