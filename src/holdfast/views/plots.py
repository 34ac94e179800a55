"""Small plots of text: bars that lie and bars that stand, in eighths of a character where they may.

`plain`: the terminal knows no more than ASCII.
"""

from collections.abc import Sequence

LYING = " ▏▎▍▌▋▊▉█"
STANDING = " ▁▂▃▄▅▆▇█"
EIGHTHS = 8
WIDE, NARROW = 14, 45  # values up to which a standing bar is three or two characters wide
MOST = 90  # characters of a row of them, unless less is said


def lying(value: float, most: float, width: int, *, plain: bool = False) -> str:
    """One bar, to the right. What is not nothing is seen."""
    if value <= 0 or most <= 0:
        return ""
    eighths = max(round(value / most * width * EIGHTHS), 1)
    if plain:
        return "#" * max(round(eighths / EIGHTHS), 1)
    whole, rest = divmod(eighths, EIGHTHS)
    return LYING[-1] * whole + (LYING[rest] if rest else "")


def standing(
    values: Sequence[float], height: int, *, within: int = MOST, plain: bool = False
) -> list[str]:
    """A bar for each, side by side: lines from the top down. What is not nothing is seen."""
    most = max(values, default=0)
    wide = _wide(len(values), within)
    bars = [max(round(v / most * height * EIGHTHS), 1) if v > 0 else 0 for v in values]
    lines = []
    for level in range(height - 1, -1, -1):
        cells = [_cell(bar - level * EIGHTHS, plain=plain) for bar in bars]
        gap = " " if wide > 1 else ""
        lines.append("".join(cell * max(wide - 1, 1) + gap for cell in cells).rstrip())
    return lines


def room(values: int, *, within: int = MOST) -> int:
    """How many characters so many standing bars take."""
    return values * _wide(values, within)


def _wide(values: int, within: int) -> int:
    wide = 3 if values <= WIDE else 2 if values <= NARROW else 1
    return max(min(wide, within // max(values, 1)), 1)


def _cell(eighths: int, *, plain: bool) -> str:
    filled = min(max(eighths, 0), EIGHTHS)
    if plain:
        return "#" if filled * 2 >= EIGHTHS else "." if filled else " "
    return STANDING[filled]
