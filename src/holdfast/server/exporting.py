"""One session as JSON Lines: all that is needed to have it again elsewhere (SPEC I1).

Line 1 says what this is. Then every event in order, as it is on the wire. A large output is a line of
its own before the first event that refers to it. The last line counts, so that a file that ends early
is noticed. Secrets are not in it, because they never got into the journal (SPEC C6).
"""

import base64
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from holdfast.core.ids import BlobId, Seq
from holdfast.engine.engine import Engine
from holdfast.ports import Row
from holdfast.server.reading import read_on
from holdfast.views.moments import rfc3339

FORMAT = 1  # goes up when a line means something else
_encode = msgspec.json.Encoder().encode


async def exported(engine: Engine, row: Row, version: str) -> AsyncIterator[bytes]:
    yield _line(
        type="holdfast_session",
        format=FORMAT,
        version=version,
        epoch=engine.journal.epoch,
        session=row.session,
        title=row.summary.title,
        created_at=rfc3339(row.created_at),
        exported_at=rfc3339(engine.clock.now()),
    )
    after, blobs = Seq(0), set[str]()
    while (piece := await read_on(engine, row.session, after)).events:
        for event in piece.events:
            blob = event.data.get("blob")
            if blob and blob not in blobs:
                blobs.add(blob)
                yield _blob(blob, await engine.journal.blob(BlobId(blob)))
            yield _encode(event) + b"\n"
        after = Seq(piece.events[-1].seq)
    yield _line(type="end", events=after, blobs=len(blobs))


def _blob(id: str, body: bytes | None) -> bytes:
    if body is None:
        return _line(type="blob", id=id, missing=True)
    try:
        return _line(type="blob", id=id, size=len(body), text=body.decode())
    except UnicodeDecodeError:
        return _line(type="blob", id=id, size=len(body), base64=base64.b64encode(body).decode())


def _line(**fields: Any) -> bytes:
    return _encode(fields) + b"\n"
