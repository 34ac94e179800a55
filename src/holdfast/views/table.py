"""The list of sessions as columns of text. Ours: a library's table of a thousand rows takes a second."""

from collections.abc import Sequence
from itertools import pairwise

from holdfast.core.session import State, StopReason
from holdfast.views.document import SessionOut
from holdfast.views.moments import age, from_rfc3339
from holdfast.views.timeline import clean
from holdfast.views.words import money

HEAD = ("ID", "STATE", "WHY", "CHANGED", "COST", "AGENT", "TITLE")
SPARED = ("AGENT", "STATE", "COST", "CHANGED")  # in this order, where a title would have no room
ROOM = 24
CLOSED = {State.COMPLETED: "closed", State.FAILED: "failed", State.CANCELLED: "given up"}
SHORTEST = 4  # digits of an id, where they are enough
TITLE = 80
GAP = "  "
NONE_YET = 'No sessions yet. `hold run "..."` makes one.\n'
RED, GREEN, YELLOW, GREY, BOLD = 31, 32, 33, 90, 1


def table(sessions: Sequence[SessionOut], *, now: int, width: int = 0, colour: bool = False) -> str:
    """`width` 0: as wide as it is."""
    if not sessions:
        return NONE_YET
    digits = unique_digits([s.id for s in sessions])
    rows = [HEAD, *(_row(s, digits, now) for s in sessions)]
    paints = [(GREY,) * len(HEAD), *((BOLD, 0, _paint(s), GREY, 0, 0, 0) for s in sessions)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    kept, room = _fitting(widths, width)
    lines = []
    for whole, paints_of in zip(rows, paints, strict=True):
        row, paint = [whole[n] for n in kept], [paints_of[n] for n in kept]
        cells = [cell.ljust(widths[n]) for cell, n in zip(row[:-1], kept, strict=False)]
        cells.append(row[-1][: max(room, 10)] if width else row[-1])
        if colour:
            cells = [_painted(cell, code) for cell, code in zip(cells, paint, strict=True)]
        lines.append(GAP.join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _fitting(widths: Sequence[int], width: int) -> tuple[list[int], int]:
    """Which columns there are, and how much room a title has; it is cut only where that is known."""
    kept = list(range(len(HEAD)))
    for name in ("", *SPARED):
        kept = [n for n in kept if HEAD[n] != name]
        room = width - sum(widths[n] for n in kept[:-1]) - len(GAP) * (len(kept) - 1)
        if not width or room >= min(ROOM, widths[-1]):
            break
    return kept, room


def unique_digits(ids: Sequence[str]) -> int:
    """As many as tell all of them apart."""
    common = 0
    for a, b in pairwise(sorted(ids)):
        while a != b and a[: common + 1] == b[: common + 1]:
            common += 1
    return max(common + 1, SHORTEST)


def _row(s: SessionOut, digits: int, now: int) -> tuple[str, ...]:
    title = " ".join(clean(s.title).split())[:TITLE]
    title = " ".join([*(["*"] if s.pinned else []), title, *(f"#{clean(tag)}" for tag in s.tags)])
    changed = age(from_rfc3339(s.updated_at), now)
    doing = CLOSED.get(s.state, s.doing)
    return (s.id[:digits], s.state, doing, changed, money(s.cost), s.agent, title)


def _paint(s: SessionOut) -> int:
    """What needs you stands out."""
    if s.pending:
        return YELLOW
    if s.run is not None:
        return GREEN
    reason = s.stop.reason if s.stop else None
    return (
        {StopReason.INTERRUPTED: YELLOW, StopReason.ERROR: RED}.get(StopReason(reason), 0)
        if reason
        else 0
    )


def _painted(cell: str, code: int) -> str:
    return f"\x1b[{code}m{cell}\x1b[0m" if code else cell
