"""Replacing one text by another, exactly: what was done, or why it could not be.

Rule 1: `old` must stand in the file once, unless all are meant. Nothing is guessed.
Rule 2: a file whose lines end with CR LF is edited with lines that end with LF alone in `old` and
`new`, if nothing else fits; the file keeps its line ends.
Rule 3: what is refused comes with what helps: the nearest lines, or the lines where it stands.
"""

import difflib

from holdfast.core.value import Value

NEAR = 3
LINES_NAMED = 10
CUT = 120
COMPARED = 5000  # lines; looking for the nearest is slow


class Replaced(Value):
    text: str
    lines: tuple[int, ...]  # where it stood


class NotReplaced(Value):
    why: str


def replaced(text: str, old: str, new: str, *, all: bool = False) -> Replaced | NotReplaced:
    if not old:
        return NotReplaced(why="`old` is empty; use write to make a file or to replace it whole.")
    if old == new:
        return NotReplaced(why="`old` and `new` are the same; nothing would change.")
    if old not in text and "\r\n" in text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
    places = _places(text, old)
    if not places:
        return NotReplaced(why=f"`old` is not in the file as given.{_nearest(text, old)}")
    if len(places) > 1 and not all:
        named = ", ".join(str(line) for line in places[:LINES_NAMED])
        return NotReplaced(
            why=f"`old` is in the file {len(places)} times (lines {named}); "
            "give more of the lines around it, or set all."
        )
    return Replaced(text=text.replace(old, new), lines=tuple(places))


def _places(text: str, part: str) -> list[int]:
    """The line of each, none overlapping another."""
    found: list[int] = []
    at, line, counted = text.find(part), 1, 0
    while at >= 0:
        line += text.count("\n", counted, at)
        counted = at
        found.append(line)
        at = text.find(part, at + len(part))
    return found


def _nearest(text: str, old: str) -> str:
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = text.split("\n")[:COMPARED]
    by_text: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        by_text.setdefault(line.strip(), number)
    close = difflib.get_close_matches(wanted, by_text, n=NEAR, cutoff=0.6)
    if not close:
        return " Read it again and copy the text exactly."
    named = "; ".join(f"line {by_text[c]}: {lines[by_text[c] - 1].rstrip()[:CUT]}" for c in close)
    return f" Nearest: {named}."
