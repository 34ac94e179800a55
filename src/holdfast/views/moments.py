"""Moments and spans as people and wires read them. No clock here: what time it is comes in.

On a wire a moment is RFC 3339 in UTC with milliseconds; in the core it is milliseconds since 1970.
"""

import re

from holdfast.core.ids import Millis

DAY = 86_400_000
UNITS = ((DAY, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"))
WRITTEN = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?Z")


def rfc3339(at: int) -> str:
    days, rest = divmod(at, DAY)
    year, month, day = _date(days)
    seconds, millis = divmod(rest, 1000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{year:04}-{month:02}-{day:02}T{clock}.{millis:03}Z"


def from_rfc3339(text: str) -> Millis:
    found = WRITTEN.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a moment such as 2026-11-15T20:00:00.000Z")
    year, month, day, hours, minutes, seconds = (int(g) for g in found.groups()[:6])
    millis = int((found[7] or "").ljust(3, "0"))
    return Millis(
        _days(year, month, day) * DAY + ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis
    )


def clock(at: int) -> str:
    """The time of day, in UTC, as a banner shows it."""
    minutes = at // 60_000
    return f"{minutes // 60 % 24:02}:{minutes % 60:02} UTC"


def span(millis: int) -> str:
    """How long, in the largest unit that fits and one below it where that is worth its room."""
    millis = max(millis, 0)
    for size, unit in UNITS:
        if millis >= size:
            whole, rest = divmod(millis, size)
            below = _below(unit, rest)
            return f"{whole}{unit}{below}" if whole < 10 else f"{whole}{unit}"  # noqa: PLR2004
    return "0s"


def age(at: int, now: int) -> str:
    return f"{span(now - at)} ago" if now - at >= 1000 else "just now"  # noqa: PLR2004


def _below(unit: str, rest: int) -> str:
    index = [u for _, u in UNITS].index(unit)
    if unit == "s" or index + 1 >= len(UNITS):
        return ""
    size, name = UNITS[index + 1]
    return f"{rest // size}{name}" if rest >= size else ""


def _date(days: int) -> tuple[int, int, int]:
    """Days since 1970 to a date. Years are counted from March, so that a leap day comes last."""
    days += 719_468
    era, day_of_era = divmod(days, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9  # noqa: PLR2004
    return era * 400 + year_of_era + (month <= 2), month, day  # noqa: PLR2004


def _days(year: int, month: int, day: int) -> int:
    year -= month <= 2  # noqa: PLR2004
    era, year_of_era = divmod(year, 400)
    shifted = month - 3 if month > 2 else month + 9  # noqa: PLR2004
    day_of_year = (153 * shifted + 2) // 5 + day - 1
    return (
        era * 146_097
        + year_of_era * 365
        + year_of_era // 4
        - year_of_era // 100
        + (day_of_year - 719_468)
    )
