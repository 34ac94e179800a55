"""Events and effects to bytes and back. The tags are what is on disk: never rename one.

A version goes up when the meaning of a stored body changes; its upcaster stays for ever. Unknown
tags and bodies that do not fit raise `Unreadable`: nothing is guessed, nothing is skipped.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, get_args

import msgspec

from holdfast.core import effects as f
from holdfast.core import events as e

Body = dict[str, Any]
Upcast = Callable[[Body], Body]


class Unreadable(Exception):
    """A stored body that this version cannot turn into a value."""


def _words(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


# On disk: the class name in snake case, frozen at the time it was first written. A class that is
# renamed keeps its tag by an entry in RENAMED; tests/baselines holds journals that must load.
RENAMED: dict[type, str] = {}
TAGS: dict[type, str] = {
    kind: RENAMED.get(kind, _words(kind.__name__))
    for kind in (*get_args(e.Event), *get_args(f.Effect))
}

# The current version of a body, where it is not 1.
VERSIONS: dict[str, int] = {"policy_fired": 2}


def _recover_is_resume(body: Body) -> Body:
    return {**body, "action": "resume"} if body.get("action") == "recover" else body


# (tag, version read) -> the same body as the next version would have written it.
UPCASTERS: dict[tuple[str, int], Upcast] = {("policy_fired", 1): _recover_is_resume}

_KINDS: dict[str, type] = {tag: kind for kind, tag in TAGS.items()}
_encode = msgspec.json.Encoder().encode


def encode(value: e.Event | f.Effect) -> tuple[str, int, bytes]:
    tag = TAGS[type(value)]
    return tag, VERSIONS.get(tag, 1), _encode(value)


def tags_of(kinds: Iterable[type]) -> list[str]:
    return [TAGS[kind] for kind in kinds]


Reader = Callable[[bytes | str], Any]
READERS: dict[tuple[str, int], Reader] = {}


def decode(tag: str, version: int, body: bytes | str) -> Any:
    try:
        return reader(tag, version)(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{tag} v{version}: {error}") from error


def reader(tag: str, version: int) -> Reader:
    """Made once for each tag and version that is met."""
    found = READERS.get((tag, version))
    return found if found is not None else _make_reader(tag, version)


def _make_reader(tag: str, version: int) -> Reader:
    kind = _KINDS.get(tag)
    if kind is None:
        raise Unreadable(f"unknown tag {tag!r}: written by a later version?")
    current = VERSIONS.get(tag, 1)
    if version > current:
        raise Unreadable(f"{tag} v{version}: written by a later version")
    read: Reader = msgspec.json.Decoder(kind).decode
    if version < current:
        read = partial(_upcast, tag, version, current)
    return READERS.setdefault((tag, version), read)


def _upcast(tag: str, version: int, current: int, body: bytes | str) -> Any:
    fields = msgspec.json.decode(body, type=dict[str, Any])
    for old in range(version, current):
        upcast = UPCASTERS.get((tag, old))
        fields = upcast(fields) if upcast else fields
    return msgspec.convert(fields, _KINDS[tag])
