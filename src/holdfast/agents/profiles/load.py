"""The profiles that ship, with what the user's configuration adds or changes (`[agents.NAME]`).

A mistake is told with the file, the key and what was probably meant; the other agents keep working.
"""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import msgspec

from holdfast.agents.profiles.profile import (
    Acp,
    Commands,
    Profile,
    Quirk,
    Transcript,
    looks_like_id,
)

FIELDS: dict[str, type] = {
    "": Profile,
    "acp": Acp,
    "oneshot": Commands,
    "terminal": Commands,
    "transcript": Transcript,
    "quirk": Quirk,
}
WAYS = ("acp", "oneshot", "terminal")
NAME = r"[a-z][a-z0-9_-]{0,31}"


class BadProfile(Exception):
    """One clear sentence: where, what, and what to do."""


class Profiles:
    """By name. A profile that cannot be read is not there; why is in `mistakes`."""

    def __init__(self, changes: Mapping[str, Any], source: str) -> None:
        self.mistakes: dict[str, str] = {}
        self._known: dict[str, Profile] = {}
        shipped = _shipped()
        for name in [*shipped, *(n for n in changes if n not in shipped)]:
            try:
                changed = changes.get(name)
                where = f"{source}, [agents.{name}]" if changed is not None else f"{name}.toml"
                self._known[name] = profile(name, shipped.get(name, {}), changed, where)
            except BadProfile as mistake:
                self.mistakes[name] = str(mistake)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def get(self, name: str) -> Profile | None:
        return self._known.get(name)

    def all(self) -> list[tuple[str, Profile]]:
        return list(self._known.items())


def profile(name: str, shipped: Mapping[str, Any], changed: object, where: str) -> Profile:
    if not looks_like_id(name, NAME) or name == "builtin":
        raise BadProfile(f"{where}: an agent cannot be called {name!r}.")
    if changed is not None and not isinstance(changed, Mapping):
        raise BadProfile(f"{where} must be a table, not {changed!r}.")
    table = _merged({"title": name, "program": name} | dict(shipped), changed or {})
    if isinstance(table.get("acp"), list):  # `acp = ["agent", "--acp"]`: any agent, by its command
        table["acp"] = {"command": table["acp"]}
    table.setdefault("via", [way for way in WAYS if way in table])
    try:
        found = msgspec.convert(table, Profile)
    except msgspec.ValidationError as error:
        raise BadProfile(f"{where}: {_explained(str(error))}") from error
    _check(found, where)
    return found


def _check(found: Profile, where: str) -> None:
    unknown = [way for way in found.via if way not in WAYS]
    if unknown:
        raise BadProfile(f"{where}: via: {unknown[0]!r} is no way to run an agent ({_or(WAYS)}).")
    if found.acp is not None and not found.acp.command:
        raise BadProfile(f"{where}: acp must name a command, like acp = ['agent', '--acp'].")
    if not found.programs():
        raise BadProfile(f"{where}: it needs at least one of [acp], [oneshot], [terminal].")
    for way in ("oneshot", "terminal"):
        commands: Commands | None = getattr(found, way)
        if commands is None:
            continue
        if commands.prompt not in ("argument", "stdin"):
            raise BadProfile(f"{where}: {way}.prompt must be 'argument' or 'stdin'.")
        if not commands.modes:
            raise BadProfile(f"{where}: {way}.modes must name at least one mode.")


def _shipped() -> dict[str, dict[str, Any]]:
    here = files(__package__)
    found = sorted(f.name for f in here.iterdir() if f.name.endswith(".toml"))
    return {
        name.removesuffix(".toml"): tomllib.loads((here / name).read_text("utf-8"))
        for name in found
    }


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged, everything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        before = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(before, Mapping)
        merged[key] = _merged(before, value) if both else value  # type: ignore[arg-type]
    return merged


def _explained(error: str) -> str:
    """msgspec's words, in ours: the key, and what was probably meant."""
    found = re.search(r"unknown field `([^`]+)`(?: - at `\$\.?([\w-]*).*`)?", error)
    if found is None:
        return error.replace("$.", "").replace("`", "'")
    key, table = found[1], found[2] or ""
    kind = FIELDS.get(table, Profile)
    known = [f.encode_name for f in msgspec.structs.fields(kind)]
    near = difflib.get_close_matches(key, known, n=1)
    meant = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
    place = f"{table}.{key}" if table else key
    return f"{place!r} is not a key of a profile. {meant}"


def _or(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + f" or {words[-1]}"
