"""Hostile JSON, looked at without trusting its shape: what is not as expected is empty."""

from typing import Any

import msgspec

Table = dict[str, Any]


def table(line: bytes) -> Table | None:
    """None: not one JSON object (a warning, a banner, half a line)."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def sub(given: Any, *keys: str) -> Table:
    """The table at the end of this path."""
    for key in keys:
        given = given.get(key) if isinstance(given, dict) else None
    return given if isinstance(given, dict) else {}


def rows(given: Any) -> list[Table]:
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def number(given: Any) -> int:
    real = isinstance(given, int | float) and not isinstance(given, bool)
    return int(given) if real and abs(given) < 1 << 53 else 0


def as_text(given: Any) -> str:
    """Whatever it is, as something to read."""
    if given is None:
        return ""
    return given if isinstance(given, str) else msgspec.json.encode(given).decode()
