"""PostgreSQL, one statement at a time: what is done with one connection. postgres.py keeps those.

Rule 1: an append is one statement, so it is one transaction and one round trip; all of it hangs on
        the fence (queries.postgres.sql).
Rule 2: refusals are found by looking after the statement did nothing, never by guessing.
Rule 3: what cannot be encoded raises before anything is sent.
Rule 4: text columns hold only names of ours, for text cannot hold NUL; bodies, and identities with
        what clients minted in them, are bytes.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from holdfast.core.evolve import rebuild
from holdfast.core.ids import Generation, Seq, SessionId
from holdfast.journal import rows
from holdfast.journal.codec import encode
from holdfast.journal.queries import load, migrations
from holdfast.ports import (
    Batch,
    Conflict,
    Damaged,
    Doubled,
    Held,
    JournalError,
    Lease,
    NewerStore,
    Recorded,
    StoreDown,
    StoreFull,
)
from holdfast.views.sessions import summary

SQL = load("postgres")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]

DISK_FULL = "53100"
TRY_AGAIN = ("40001", "40P01")  # serialization failure, deadlock: undone, and no harm done
ALONE = 1 << 20  # bytes; packing more than this would hold up the loop

# What a connection string need not say. A dead network is noticed in seconds, and of several
# hosts the one that can be written is found.
DEFAULTS: dict[str, Any] = {
    "application_name": "holdfast",
    "client_encoding": "UTF8",
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "target_session_attrs": "read-write",
}


def key(schema: str, name: str) -> int:
    """The number of an advisory lock. Schemas of one database do not meet."""
    digest = hashlib.blake2b(f"holdfast\0{schema}\0{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def translate(error: psycopg.Error) -> JournalError:
    """What a failure means for whoever waits for the write."""
    state = error.sqlstate or ""
    said = " ".join(str(error).split()) or type(error).__name__
    if state == DISK_FULL:
        return StoreFull(f"no room for the journal: {said}")
    if state in TRY_AGAIN:
        return Conflict(f"the server asks to try again: {said}")
    return StoreDown(f"the journal cannot be used: {said} ({state or type(error).__name__})")


async def connect(dsn: str, schema: str) -> Connection:
    given = {**DEFAULTS, **conninfo_to_dict(dsn)}
    db = await psycopg.AsyncConnection.connect(**given, autocommit=True)
    try:
        await db.execute(SQL["settings"], {"schema": schema})
    except BaseException:
        await db.close()
        raise
    return db


async def every(db: Connection, name: str, **given: object) -> list[tuple[Any, ...]]:
    return await (await db.execute(SQL[name], given, binary=True)).fetchall()


async def one(db: Connection, name: str, **given: object) -> tuple[Any, ...] | None:
    """The first row, or None."""
    return await (await db.execute(SQL[name], given, binary=True)).fetchone()


# --- the schema -------------------------------------------------------------------------------


async def prepare(db: Connection, schema: str) -> str:
    """Brings the schema up to date, or refuses one from the future. Returns the store's epoch."""
    newest = migrations("postgres")[-1][0]
    if await _version(db, schema) != newest:
        async with db.transaction():
            await one(db, "alone", key=key(schema, ""))
            await _migrate(db, schema, await _version(db, schema))
    return await _epoch(db, schema)


async def _version(db: Connection, schema: str) -> int | None:
    """None: there is no such schema."""
    [(schema_made, tables_made)] = await every(db, "made", schema=schema)
    if not tables_made:
        return 0 if schema_made else None
    [(number,)] = await every(db, "version")
    return int(number)


async def _migrate(db: Connection, schema: str, have: int | None) -> None:
    steps = migrations("postgres")
    if have is not None and have > steps[-1][0]:
        raise NewerStore(
            f"schema {schema} was written by a later version of Holdfast (schema {have},"
            f" this one knows {steps[-1][0]}); nothing was changed: use that version"
        )
    if have is None:
        await db.execute(sql.SQL("create schema {}").format(sql.Identifier(schema)))
    if not have:
        await db.execute("create table schema_version (number integer primary key)")
    for number, script in steps:
        if number > (have or 0):
            await db.execute(script)
            await db.execute(SQL["put_version"], {"number": number})


async def _epoch(db: Connection, schema: str) -> str:
    """A store put back from a copy is another history: cursors into it must not match."""
    [(place,)] = await every(db, "place")
    known = await _meta(db)
    if known.get("place") != place:
        async with db.transaction():
            await one(db, "alone", key=key(schema, ""))
            known = await _meta(db)
            if known.get("place") != place:
                known = {"place": place, "epoch": secrets.token_hex(6)}
                await db.execute(SQL["put_meta"], known)
    return known["epoch"]


async def _meta(db: Connection) -> dict[str, str]:
    return {str(name): str(value) for name, value in await every(db, "meta")}


async def check_heads(db: Connection, acknowledged: dict[SessionId, int]) -> None:
    """After the server was away: does it still have all that was acknowledged?"""
    found = await every(db, "heads", ids=list(acknowledged))
    heads = {str(session): int(head) for session, head in found}
    for session, head in acknowledged.items():
        if heads.get(session, -1) < head:
            raise StoreDown(
                f"session {session} was acknowledged up to {head} and the store has "
                f"{heads.get(session, 'nothing')}: restore it from a copy"
            )


# --- writing ----------------------------------------------------------------------------------


async def parameters(batch: Batch, channel: str) -> dict[str, Any]:
    """All that an append sends, encoded: what cannot be encoded raises here."""
    events = rows.event_rows(batch)
    seen = batch.summary
    return {
        "id": batch.session,
        "generation": batch.generation,
        "head": batch.head,
        "count": len(events),
        "at": batch.at,
        "listed": seen is not None or batch.release,
        "live": None if seen is None else seen.live,
        "summary": None if seen is None else rows.to_json(seen),
        "release": batch.release,
        "durable": batch.durable,
        "channel": channel,
        "tags": [tag for _, _, tag, _, _, _ in events],
        "versions": [version for _, _, _, version, _, _ in events],
        "identities": [(name or "").encode() for *_, name, _ in events],  # empty: none
        "bodies": [body for *_, body in events],
        "settled": list(batch.settled),
        "snapshot": None if batch.snapshot is None else rows.to_json(batch.snapshot),
        "snapshot_seq": None if batch.snapshot is None else batch.snapshot.seq,
        "snapshot_version": rows.SNAPSHOT_VERSION,
        "blobs_used": rows.blobs_used(batch),
        **_errands(batch),
        **await _blobs(batch),
    }


def _errands(batch: Batch) -> dict[str, Any]:
    # One statement does not see its own inserts: what is settled at once is not owed at all.
    owed = [errand for errand in batch.errands if errand.id not in batch.settled]
    places = [errand.id.rsplit("/", 2) for errand in owed]
    bodies = [encode(errand.effect) for errand in owed]
    return {
        "errand_ids": [errand.id for errand in owed],
        "errand_seqs": [int(seq) for _, seq, _ in places],
        "errand_ns": [int(n) for _, _, n in places],
        "errand_tags": [tag for tag, _, _ in bodies],
        "errand_versions": [version for _, version, _ in bodies],
        "errand_bodies": [body for _, _, body in bodies],
        "errand_dues": [errand.due for errand in owed],
    }


async def _blobs(batch: Batch) -> dict[str, Any]:
    # In one order everywhere: two writers of the same blobs never wait for each other in a ring.
    blobs = sorted(batch.blobs, key=lambda blob: blob.id)
    sizes = [len(blob.body) for blob in blobs]
    if sum(sizes) > ALONE:
        packed = await asyncio.to_thread(lambda: [rows.pack(blob.body) for blob in blobs])
    else:
        packed = [rows.pack(blob.body) for blob in blobs]
    return {"blob_ids": [blob.id for blob in blobs], "blob_sizes": sizes, "blob_bodies": packed}


async def append(db: Connection, batch: Batch, given: dict[str, Any]) -> None:
    try:
        done = await one(db, "append", **given)
    except psycopg.errors.UniqueViolation as error:
        raise await _doubled(db, batch, given["identities"]) from error
    if done is None:
        raise rows.why_refused(batch, await one(db, "why_fenced", id=batch.session))


async def _doubled(db: Connection, batch: Batch, identities: list[bytes]) -> JournalError:
    names = [name for name in identities if name]
    found = await one(db, "doubled", id=batch.session, identities=names)
    twice = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if found or twice:
        return Doubled(batch.session, (found[0] if found else twice or b"").decode())
    return Conflict(f"session {batch.session}: what follows {batch.head} exists already")


async def claim(db: Connection, wanted: dict[str, Any]) -> Lease:
    """`wanted`: id, owner, now, until, dead."""
    session = wanted["id"]
    while (mine := await one(db, "claim", **wanted)) is None:
        for head, holder, until, why in await every(db, "lease", id=session):
            if why:
                raise Damaged(session, head, f"quarantined: {why}")
            if until > wanted["now"] and holder not in (wanted["owner"], wanted["dead"]):
                raise Held(session, holder, until)
        # It was free by the time we looked: once more.
    return Lease(session=session, generation=Generation(mine[0]), head=Seq(mine[1]))


async def renew(
    db: Connection, owner: str, leases: Sequence[Lease], now: int, ttl: int
) -> list[SessionId]:
    ids = [lease.session for lease in leases]
    generations = [lease.generation for lease in leases]
    found = await every(db, "renew", owner=owner, until=now + ttl, ids=ids, generations=generations)
    kept = {row[0] for row in found}
    return [session for session in ids if session not in kept]


async def purge(db: Connection, lease: Lease, at: int) -> None:
    async with db.transaction():
        found = await one(db, "hold_to_purge", id=lease.session)
        if found is None or found[1] != lease.generation:
            raise rows.why_refused(lease, found)
        blobs = [id for (id,) in await every(db, "hold_blobs", no=found[2])]
        await db.execute(SQL["purge"], {"no": found[2], "id": lease.session, "at": at})
        await db.execute(SQL["purge_blobs"], {"ids": blobs})


async def rebuild_list(db: Connection) -> int:
    found = await every(db, "all_sessions")
    for (session,) in found:
        async with db.transaction():
            await one(db, "hold_row", id=session)
            await _list_anew(db, session)
    return len(found)


async def _list_anew(db: Connection, session: SessionId) -> None:
    try:
        found = await every(db, "read", id=session, after=0, limit=None)
        events = [recorded.event for recorded in history(session, found, 0, None)]
    except Damaged as error:
        await quarantine(db, session, str(error))
        return
    seen = summary(rebuild(session, events))
    given = {"id": session, "summary": rows.to_json(seen), "live": seen.live}
    await db.execute(SQL["put_summary"], given)


async def quarantine(db: Connection, session: SessionId, why: str) -> None:
    given = {"id": session, "why": why.replace("\0", "\ufffd")}  # a reason may quote anything
    await db.execute(SQL["quarantine"], given)


def history(
    session: SessionId, found: list[tuple[Any, ...]], after: int, limit: int | None
) -> list[Recorded]:
    """What `read` found: each row has the head first, and nothing else if there is no event."""
    if not found:
        return []
    there = [row for _, *row in found if row[0] is not None]
    return rows.history(session, there, head=found[0][0], after=after, limit=limit)
