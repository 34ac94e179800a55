"""Is the store well? Looked at from outside, with or without a daemon; nothing is changed."""

import contextlib
import sqlite3
from pathlib import Path

from holdfast.core.value import Value
from holdfast.journal.queries import migrations

PATIENCE = 5  # seconds for a server, or for another process's lock


class Health(Value):
    """`problem` empty: it is whole and can be used."""

    where: str
    there: bool = True
    sessions: int = 0
    quarantined: int = 0
    size: int = 0  # bytes; 0: not known
    problem: str = ""
    hint: str = ""


def of_sqlite(path: Path) -> Health:
    where = str(path)
    if not path.exists():
        return Health(where=where, there=False)
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=PATIENCE)
        ) as db:
            return _looked_at(db, where, path.stat().st_size)
    except (sqlite3.Error, OSError) as error:
        return Health(where=where, problem=f"it cannot be read: {error}", hint=_RESTORE)


_RESTORE = "Stop the daemon, keep a copy of the file, and restore it from a backup."


def _looked_at(db: sqlite3.Connection, where: str, size: int) -> Health:
    [(said,)] = db.execute("pragma quick_check(1)").fetchall()
    if said != "ok":
        return Health(where=where, size=size, problem=f"it is damaged: {said}", hint=_RESTORE)
    [(have,)] = db.execute("pragma user_version").fetchall()
    newest = migrations("sqlite")[-1][0]
    if have > newest:
        return Health(
            where=where,
            size=size,
            problem=f"a later version of Holdfast wrote it (schema {have}, this one knows {newest})",
            hint="Use that version; nothing was changed.",
        )
    if have == 0:
        return Health(where=where, size=size)  # no daemon has used it yet
    [(count, aside)] = db.execute("select count(*), sum(quarantined <> '') from session").fetchall()
    return Health(where=where, size=size, sessions=count, quarantined=aside or 0)


async def of_postgres(dsn: str, schema: str = "holdfast") -> Health:
    import psycopg  # noqa: PLC0415  a quarter of a second, for those who use it
    from psycopg import sql  # noqa: PLC0415
    from psycopg.conninfo import conninfo_to_dict, make_conninfo  # noqa: PLC0415

    try:
        said = conninfo_to_dict(dsn)
        where = f"PostgreSQL {said.get('dbname', '')} on {said.get('host', 'this machine')}"
        given = make_conninfo(dsn, connect_timeout=PATIENCE)
        async with await psycopg.AsyncConnection.connect(given, autocommit=True) as db:
            table = sql.Identifier(schema, "session")
            query = sql.SQL("select count(*), count(*) filter (where quarantined <> '') from {}")
            try:
                found = await (await db.execute(query.format(table))).fetchone()
            except psycopg.errors.UndefinedTable:
                return Health(where=where, there=False)
    except psycopg.Error as error:
        told = " ".join(str(error).split())
        hint = "Check `store` in the configuration, and that the server runs."
        return Health(where="PostgreSQL", problem=f"it cannot be reached: {told}", hint=hint)
    count, aside = found or (0, 0)
    return Health(where=where, sessions=int(count), quarantined=int(aside))
