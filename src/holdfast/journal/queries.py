"""The SQL files, by name: a line `-- name: what it is for`, then the statement."""

import re
from importlib import resources

_NAME = re.compile(r"^-- (\w+):.*$", re.MULTILINE)


def load(dialect: str) -> dict[str, str]:
    text = (resources.files(__package__) / f"queries.{dialect}.sql").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    return {
        name: sql.strip().rstrip(";") for name, sql in zip(parts[::2], parts[1::2], strict=True)
    }


def migrations(dialect: str) -> list[tuple[int, str]]:
    """(number, script), in order."""
    folder = resources.files(__package__) / "migrations"
    found = [p for p in folder.iterdir() if p.name.endswith(f".{dialect}.sql")]
    return sorted((int(p.name.split("_")[0]), p.read_text("utf-8")) for p in found)
