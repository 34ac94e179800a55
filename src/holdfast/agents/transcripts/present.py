"""Whether an agent still has a conversation: its own record of exactly that id is on disk (SPEC E4)."""

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from holdfast.agents.profiles.profile import Transcript, looks_like_id
from holdfast.core.ids import Token


def exists(where: Transcript, token: Token, environ: Mapping[str, str]) -> bool | None:
    """None: it cannot be told."""
    if not looks_like_id(token, where.id):
        return False
    root = place(where, environ)
    if root is None:
        return None
    try:
        if where.table:
            return _in_table(root / where.pattern, where.table, token)
        pattern = where.pattern.replace("{id8}", token[:8]).replace("{id}", token)
        short = "{id8}" in where.pattern
        return any(not short or _names(file, token) for file in root.glob(pattern))
    except (OSError, sqlite3.Error):
        return None


def place(where: Transcript, environ: Mapping[str, str]) -> Path | None:
    """The first root that is set in that environment."""
    return next((path for root in where.root if (path := rooted(root, environ))), None)


def rooted(path: str, environ: Mapping[str, str]) -> Path | None:
    """`$VARIABLE/rest` or `~/rest`; None: that is not set."""
    if path.startswith("$"):
        variable, _, rest = path[1:].partition("/")
        base = environ.get(variable)
        return Path(base) / rest if base else None
    home = environ.get("HOME")
    return Path(path.replace("~", home, 1)) if home else None


def _names(file: Path, token: Token) -> bool:
    """A file whose name has only the first letters of an id: its first line has all of it."""
    with file.open("rb") as lines:
        return token.encode() in lines.readline(65_536)


def _in_table(file: Path, table: str, token: Token) -> bool:
    if not file.exists():
        return False
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        query = f'SELECT 1 FROM "{table}" WHERE id = ?'  # noqa: S608  the table is our profile's
        return db.execute(query, (token,)).fetchone() is not None
