"""What happens to an input's texts before they are written down: nothing, almost always."""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from holdfast.core.events import CallFinished, Event
from holdfast.core.ids import BlobId
from holdfast.core.value import fields, replace
from holdfast.ports import Blob

LARGE = 32_768  # characters of output that stay in the event's row
T = TypeVar("T")


def claim_check(events: Sequence[Event]) -> tuple[list[Event], tuple[Blob, ...]]:
    """A large output is kept whole beside the journal; its row holds both ends and a claim."""
    kept: list[Event] = []
    blobs: list[Blob] = []
    for event in events:
        if isinstance(event, CallFinished) and len(event.output) > LARGE and event.blob is None:
            body = event.output.encode()
            blob = Blob(id=BlobId(hashlib.sha256(body).hexdigest()), body=body)
            blobs.append(blob)
            kept.append(replace(event, output=_ends(event.output), blob=blob.id, size=len(body)))
        else:
            kept.append(event)
    return kept, tuple(blobs)


def _ends(text: str) -> str:
    half = LARGE // 2
    return f"{text[:half]}\n... [{len(text) - LARGE} characters cut] ...\n{text[-half:]}"


def scrub(value: T) -> T:
    """The same value with every lone surrogate replaced: neither JSON nor a model can hold one."""
    return _scrub(value)  # type: ignore[no-any-return]


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, tuple):
        return tuple(_scrub(item) for item in value)
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: _scrub(item) for name, item in fields(value).items()})
    return value
