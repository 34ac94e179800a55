"""Looks over this machine: what is installed, what works, what is missing (`hold doctor`).

Rule 1: what can be tried is tried. Nothing is made, started or changed that was not there before.
Rule 2: no value of a key is ever read out, only that it is there.
Rule 3: each part is looked at by itself: one that fails is a row, and the others are still told.

To have something else looked at, write a function from `Place` to rows and put it into `PARTS`.
"""

import asyncio
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.agents.builtin.providers import catalogue
from holdfast.agents.builtin.providers.keys import FILE as KEY_FILE
from holdfast.agents.builtin.providers.keys import Keys
from holdfast.agents.builtin.sandbox import available
from holdfast.agents.profiles.installed import AgentRow, Installed
from holdfast.agents.profiles.load import Profiles
from holdfast.client import Client, DaemonDown, DaemonLost
from holdfast.config import TOKEN, VERSION, BadConfig, Config, config_file, load, prepare
from holdfast.daemon import is_locked
from holdfast.journal import health
from holdfast.runtimes.local import LocalRuntime
from holdfast.server.auth import read_token
from holdfast.views.checkup import BAD, NOTE, OK, WARN, Check
from holdfast.workspaces.errors import GitError
from holdfast.workspaces.git import PLAIN

MEGABYTE = 1 << 20
LITTLE, TOO_LITTLE = 1024 * MEGABYTE, 100 * MEGABYTE  # bytes of free disk
SLOW_DISK = 0.05  # seconds for one write that survives a power cut
MERGES = (2, 38)  # the first git that merges without a work tree
SECONDS = 10.0


class Place(NamedTuple):
    home: Path
    environ: Mapping[str, str]
    config: Config | None  # None: it cannot be read
    mistake: str = ""  # why not


Part = Callable[[Place], Awaitable[list[Check]]]


async def examine(home: Path, environ: Mapping[str, str]) -> list[Check]:
    try:
        place = Place(home, environ, load(environ))
    except BadConfig as error:
        place = Place(home, environ, None, str(error))
    found = await asyncio.gather(*(_safely(part, place) for part in PARTS))
    return [check for checks in found for check in checks]


async def _safely(part: Part, place: Place) -> list[Check]:
    try:
        return await part(place)
    except Exception as error:  # noqa: BLE001  a doctor does not fall ill of his patient
        name = part.__name__.strip("_").replace("_", " ")
        told = f"this could not be looked at: {type(error).__name__}: {error}"
        return [
            Check(section="holdfast", name=name, state=BAD, told=told, hint="Please report it.")
        ]


# --- Holdfast itself ------------------------------------------------------------------------------


async def _python(_place: Place) -> list[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    told = f"{version} ({sys.executable}), SQLite {sqlite3.sqlite_version}"
    return [Check(section="holdfast", name="python", state=OK, told=told)]


async def _settings(place: Place) -> list[Check]:
    file = config_file(place.environ)
    if place.config is None:
        told = f"{place.mistake} Until then nothing can be started."
        return [Check(section="holdfast", name="config", state=BAD, told=told, hint=f"Edit {file}")]
    told = str(file) if file.exists() else f"{file} (not there: all defaults)"
    return [Check(section="holdfast", name="config", state=OK, told=told)]


async def _daemon(place: Place) -> list[Check]:
    def row(state: str, told: str, hint: str = "") -> list[Check]:
        return [Check(section="holdfast", name="daemon", state=state, told=told, hint=hint)]

    try:
        alive = await asyncio.to_thread(Client(place.home).health)
    except DaemonDown:
        if place.home.exists() and is_locked(place.home):
            hint = f"See {place.home / 'daemon.log'}"
            return row(BAD, "one holds the lock and does not answer", hint)
        return row(NOTE, "not running; it is started when it is needed")
    except DaemonLost as error:
        return row(BAD, str(error), f"See {place.home / 'daemon.log'}")
    if alive.version != VERSION:
        told = f"version {alive.version} runs (pid {alive.pid}), installed is {VERSION}"
        return row(WARN, told, "Restart it: hold down; hold up")
    return row(OK, f"pid {alive.pid}, version {alive.version}, {alive.address}")


# --- the disk ---------------------------------------------------------------------------------------


async def _folder(place: Place) -> list[Check]:
    def row(name: str, state: str, told: str, hint: str = "") -> Check:
        return Check(section="disk", name=name, state=state, told=told, hint=hint)

    home = place.home
    if not home.exists():
        return [row("home", NOTE, f"{home} (made at the first start)"), _room(home, row)]
    try:
        prepare(home)
        token = home / TOKEN
        if token.exists():
            read_token(token)
    except (BadConfig, OSError, ValueError) as error:
        return [row("home", BAD, str(error)), _room(home, row)]
    seconds = await asyncio.to_thread(_durable_write, home)
    told = f"{seconds * 1000:.1f} ms for a write that survives a power cut"
    slow = seconds > SLOW_DISK
    hint = "Every step of an agent waits for it: a local disk is better." if slow else ""
    kept = row("home", OK, f"{home}, open to you alone")
    return [kept, row("fsync", WARN if slow else OK, told, hint), _room(home, row)]


def _room(home: Path, row: Callable[..., Check]) -> Check:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    state = BAD if free < TOO_LITTLE else WARN if free < LITTLE else OK
    hint = "Make room: without it no work is begun." if state != OK else ""
    return row("space", state, f"{free / 1e9:.1f} GB free", hint)


def _durable_write(folder: Path) -> float:
    """The quickest of three."""
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(3):
            begun = time.monotonic()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            times.append(time.monotonic() - begun)
    return min(times)


async def _store(place: Place) -> list[Check]:
    store = place.config.get("store") if place.config is not None else ""
    if store:
        found = await health.of_postgres(str(store))
    else:
        found = await asyncio.to_thread(health.of_sqlite, place.home / "journal.db")

    def row(state: str, told: str, hint: str = "") -> list[Check]:
        return [Check(section="disk", name="store", state=state, told=told, hint=hint)]

    if found.problem:
        return row(BAD, f"{found.where}: {found.problem}", found.hint)
    if not found.there:
        return row(NOTE, f"{found.where} (made at the first start)")
    size = f", {found.size / 1e6:.1f} MB" if found.size else ""
    told = f"{found.where}: whole, sessions: {found.sessions}{size}"
    if found.quarantined:
        told += f", {found.quarantined} of them put aside because they cannot be read"
        return row(WARN, told, "`hold ls` shows which; the others are not touched.")
    return row(OK, told)


# --- programs ---------------------------------------------------------------------------------------


async def _git(_place: Place) -> list[Check]:
    def row(state: str, told: str, hint: str = "") -> list[Check]:
        return [Check(section="programs", name="git", state=state, told=told, hint=hint)]

    try:
        said = (await PLAIN.run("--version", cwd=Path("/"))).line
    except GitError as error:
        return row(BAD, str(error), "Install git: sessions work in git work trees.")
    found = re.search(r"(\d+)\.(\d+)[\w.]*", said)
    if found is not None and (int(found[1]), int(found[2])) < MERGES:
        told = f"{found[0]}: `hold apply` cannot merge with it, only go straight ahead"
        return row(WARN, told, f"Version {MERGES[0]}.{MERGES[1]} can.")
    return row(OK, found[0] if found else said)


async def _sandbox(_place: Place) -> list[Check]:
    missing = await available(LocalRuntime("doctor:sandbox"))
    if missing is None:
        told = "bubblewrap works here (tried)"
        return [Check(section="programs", name="sandbox", state=OK, told=told)]
    hint = "Until then an agent asks before each command it runs."
    return [Check(section="programs", name="sandbox", state=WARN, told=missing, hint=hint)]


async def _tmux(_place: Place) -> list[Check]:
    path = shutil.which("tmux")
    if path is None:
        told = "not installed: agents in a terminal of their own need it"
        return [Check(section="programs", name="tmux", state=NOTE, told=told)]
    runtime = LocalRuntime("doctor:tmux")
    said = await runtime.run([path, "-V"], cwd="/", env={}, timeout=SECONDS, output_limit=200)
    told = said.output.decode("utf-8", "replace").strip().removeprefix("tmux ")
    state = OK if said.exit_code == 0 else WARN
    return [Check(section="programs", name="tmux", state=state, told=told or "says nothing")]


# --- who can work -----------------------------------------------------------------------------------


async def _providers(place: Place) -> list[Check]:
    file = config_file(place.environ).with_name(KEY_FILE)
    try:
        known = Keys(file, place.environ).environ({})
    except BadConfig as error:
        return [Check(section="models", name="keys", state=BAD, told=str(error))]
    rows = []
    for provider in catalogue.PROVIDERS:
        named = next((key for key in provider.keys if known.get(key)), "")
        if not named:
            continue
        lacks = not catalogue.is_installed(provider)
        told = f"{named} is set" + (f", but {provider.needs} is not installed" if lacks else "")
        state = WARN if lacks else OK
        rows.append(Check(section="models", name=provider.name, state=state, told=told))
    if rows:
        return rows
    told = "no provider's key is set: the built-in agent has no model to ask"
    hint = f"Set ANTHROPIC_API_KEY or another, or write it into {file} (chmod 600)."
    return [Check(section="models", name="keys", state=WARN, told=told, hint=hint)]


async def _agents(place: Place) -> list[Check]:
    """Which are there, and whether they are as we know them; `hold agent ls` says more of each."""
    changes = place.config.agents if place.config is not None else {}
    profiles = Profiles(changes, str(config_file(place.environ)))
    rows = await _installed(profiles, place.home).rows()
    return [_agent(row, broken=row.name in profiles.mistakes) for row in rows]


def _agent(row: AgentRow, *, broken: bool) -> Check:
    about = {"section": "agents", "name": row.name}
    if broken:
        return Check(state=BAD, told=row.problem, **about)
    if not row.installed:
        return Check(state=NOTE, told="not installed", **about)
    told = f"{row.title} {row.version}".strip() + f", via {', '.join(row.via)}"
    if row.problem:
        return Check(state=WARN, told=f"{told}: {row.problem}", hint=row.hint, **about)
    if row.missing_flags:
        flags = ", ".join(row.missing_flags)
        hint = "Its version may not fit: update it, or choose another way with --via."
        return Check(state=WARN, told=f"{told}: its help does not name {flags}", hint=hint, **about)
    if not row.logged_in and row.login:
        return Check(
            state=NOTE, told=f"{told}; no login of it is known here", hint=row.login, **about
        )
    return Check(state=OK, told=told, **about)


def _installed(profiles: Profiles, home: Path) -> Installed:
    return Installed(profiles, LocalRuntime("probe").run, home / "agents.json")


PARTS: tuple[Part, ...] = (
    _python,
    _settings,
    _daemon,
    _folder,
    _store,
    _git,
    _sandbox,
    _tmux,
    _providers,
    _agents,
)


async def agent_rows(config: Config) -> list[AgentRow]:
    """Every agent with a profile; what its program said of itself is kept in the state folder."""
    prepare(config.home)
    profiles = Profiles(config.agents, str(config.file))
    return await _installed(profiles, config.home).rows()
