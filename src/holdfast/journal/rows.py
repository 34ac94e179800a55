"""Rows to values and back, the same for both databases."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from holdfast.core.events import CallFinished, Event
from holdfast.core.ids import Generation, Millis, Seq, SessionId
from holdfast.core.session import Session
from holdfast.core.task import Task
from holdfast.journal.codec import READERS, Unreadable, decode, encode, reader
from holdfast.ports import (
    Batch,
    Conflict,
    Damaged,
    Errand,
    Fenced,
    Lease,
    Recorded,
    Row,
    Snapshot,
)
from holdfast.views.sessions import Summary

# Goes up with every change of Session that an earlier copy cannot be read as; a copy of another
# version is ignored and the events are folded instead. A test pins it to the fields.
SNAPSHOT_VERSION = 13

_summary = msgspec.json.Decoder(Summary)
_session = msgspec.json.Decoder(Session)
_task = msgspec.json.Decoder(Task)
to_json = msgspec.json.Encoder().encode
UNFIT = (msgspec.DecodeError, UnicodeDecodeError)  # a body that is not what was written

EventRow = tuple[int, int, str, int, str | None, bytes]


def event_rows(batch: Batch) -> list[EventRow]:
    """(seq, at, tag, version, identity, body) of each event."""
    names = batch.identities or (None,) * len(batch.events)
    return [
        (seq, batch.at, tag, version, name, body)
        for seq, (event, name) in enumerate(
            zip(batch.events, names, strict=True), start=batch.head + 1
        )
        for tag, version, body in (encode(event),)
    ]


def blobs_used(batch: Batch) -> list[str]:
    """Kept with this batch, or claimed by its events: those of a fork were kept by another."""
    claimed = {ev.blob for ev in batch.events if isinstance(ev, CallFinished) and ev.blob}
    return sorted(claimed | {blob.id for blob in batch.blobs})


def recorded(session: SessionId, after: int, rows: Iterable[Sequence[Any]]) -> list[Recorded]:
    """Without a gap: a missing or unreadable row is named, not skipped."""
    found = []
    expected = after
    for row in rows:
        expected += 1
        if row[0] != expected:
            raise Damaged(session, expected, f"missing; the next one is {row[0]}")
        found.append(_recorded(session, row))
    return found


def picked(session: SessionId, rows: Iterable[Sequence[Any]]) -> list[Recorded]:
    """Some of them: what lies between was not asked for."""
    return [_recorded(session, row) for row in rows]


def _recorded(session: SessionId, row: Sequence[Any]) -> Recorded:
    seq, at, tag, version, body = row
    try:
        return Recorded(seq=seq, at=at, event=reader(tag, version)(body))
    except Unreadable as error:
        raise Damaged(session, seq, str(error)) from error
    except UNFIT as error:
        raise Damaged(session, seq, f"{tag} v{version}: {error}") from error


def events(found: Iterable[tuple[str, int, bytes]], count: int) -> list[Event] | None:
    """Just the events, as a fold wants them; None: something is wrong, and `history` says what.

    Each row is let go as soon as it is read: a long session is not in memory twice.
    """
    try:
        read = READERS.get
        events = [
            (read((tag, version)) or reader(tag, version))(body) for tag, version, body in found
        ]
        return events if len(events) == count else None
    except (Unreadable, msgspec.DecodeError, UnicodeDecodeError):
        return None


def history(
    session: SessionId, found: Sequence[Sequence[Any]], *, head: int, after: int, limit: int | None
) -> list[Recorded]:
    """Up to the head, or to the limit: what is missing at the end is named as well."""
    events = recorded(session, after, found)
    left = max(head - after, 0)
    if len(events) < (left if limit is None else min(left, limit)):
        raise Damaged(session, after + len(events) + 1, f"missing; the head is {head}")
    return events


def why_refused(batch: Batch | Lease, found: Sequence[Any] | None) -> Fenced | Conflict:
    """`found`: head and generation that the store has instead of what the writer believed."""
    if found is None:
        return Fenced(f"there is no session {batch.session}")
    head, generation, *_ = found
    if generation != batch.generation:
        return Fenced(
            f"session {batch.session} has another owner now "
            f"(generation {generation}, ours was {batch.generation})"
        )
    return Conflict(f"session {batch.session} is at {head}, not at {batch.head}")


def errand(row: Sequence[Any]) -> Errand:
    id, session, tag, version, body, due, attempts = row
    try:
        effect = decode(tag, version, body)
    except Unreadable as error:
        raise Damaged(session, int(id.split("/")[1]), f"errand {id}: {error}") from error
    return Errand(id=id, session=session, effect=effect, due=due, attempts=attempts)


def list_row(row: Sequence[Any]) -> Row:
    id, head, generation, owner, until, summary, created, updated, quarantined = row
    try:
        seen = _summary.decode(summary)
    except UNFIT as error:  # a projection: shown empty, made anew by rebuild_list
        seen, quarantined = Summary(), quarantined or f"its line in the list is damaged: {error}"
    return Row(
        session=SessionId(id),
        head=Seq(head),
        generation=Generation(generation),
        owner=owner,
        lease_until=Millis(until),
        summary=seen,
        created_at=Millis(created),
        updated_at=Millis(updated),
        quarantined=quarantined,
    )


def snapshot(row: Sequence[Any] | None) -> Snapshot | None:
    if row is None or row[1] != SNAPSHOT_VERSION:
        return None
    try:
        return Snapshot(seq=row[0], session=_session.decode(row[2]))
    except UNFIT:
        return None  # a copy; the events are the truth


def tasks(found: Iterable[Sequence[Any]]) -> list[Task]:
    """One that cannot be read is shown as such: it hides no other."""
    return [_read_task(id, body) for id, body in found]


def _read_task(id: str, body: bytes) -> Task:
    try:
        return _task.decode(body)
    except UNFIT as error:
        return Task(id=id, title=f"(damaged: {error})")


def pack(body: bytes) -> bytes:
    return zlib.compress(body, 1)


unpack = zlib.decompress
