"""Events and effects to bytes and back. The tags are what is on disk: never rename one.

A version goes up when the meaning of a stored body changes; its upcaster stays for ever. Unknown
tags and bodies that do not fit raise `Unreadable`: nothing is guessed, nothing is skipped.
"""

from collections.abc import Callable
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
_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {}
_encode = msgspec.json.Encoder().encode


def encode(value: e.Event | f.Effect) -> tuple[str, int, bytes]:
    tag = TAGS[type(value)]
    return tag, VERSIONS.get(tag, 1), _encode(value)


def decode(tag: str, version: int, body: bytes | str) -> Any:
    decoder = _DECODERS.get(tag) or _decoder(tag)
    try:
        if version == VERSIONS.get(tag, 1):
            return decoder.decode(body)
        return _upcast(tag, version, body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{tag} v{version}: {error}") from error


def _decoder(tag: str) -> msgspec.json.Decoder[Any]:
    kind = _KINDS.get(tag)
    if kind is None:
        raise Unreadable(f"unknown tag {tag!r}: written by a later version?")
    return _DECODERS.setdefault(tag, msgspec.json.Decoder(kind))


def _upcast(tag: str, version: int, body: bytes | str) -> Any:
    if version > VERSIONS.get(tag, 1):
        raise Unreadable(f"{tag} v{version}: written by a later version")
    fields = msgspec.json.decode(body, type=Body)
    for old in range(version, VERSIONS.get(tag, 1)):
        upcast = UPCASTERS.get((tag, old))
        fields = upcast(fields) if upcast else fields
    return msgspec.convert(fields, _KINDS[tag])
