"""What is printed: one JSON document, or text for people; colour and columns on a terminal alone.

Exit codes are SPEC I2's: 0 ok, 1 error or interrupted, 2 usage, 3 not found, 4 cancelled, 5 a question
is open, 75 a limit, 124 timeout, 130 Ctrl-C.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.client import ApiError, Client, DaemonDown, DaemonLost
from holdfast.config import BadConfig, load, state_folder

if TYPE_CHECKING:
    from holdfast.wire import BulkOut

F = TypeVar("F", bound=Callable[..., Any])

FAILED, USAGE, NOT_FOUND, QUESTION, TIMEOUT, INTERRUPT = 1, 2, 3, 5, 124, 130
EXITS = {"not_found": NOT_FOUND, "ambiguous": USAGE, "invalid": USAGE, "too_large": USAGE}
EXITS |= {"would_lose": USAGE}
FEW = 3  # ids that one line names


def json_option(command: F) -> F:
    """`--json`, everywhere."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def connect(*, start: bool = True) -> Client:
    """To the daemon of this state folder, which is started if it is not there."""
    home = state_folder(os.environ)

    def begin() -> None:
        from holdfast.daemon import start_detached

        load(os.environ)  # a bad config is said here, not in a log
        start_detached(home)

    return Client(home, begin if start else None)


def say_json(value: Any) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def say_bulk(found: "BulkOut", *, as_json: bool) -> int:
    """What came back, and why the others did not."""
    from holdfast.views.timeline import clean

    if as_json:
        say_json(found)
        return 0
    for id in found.resumed:
        print(f"Resumed {id}")
    why: dict[str, list[str]] = {}
    for skipped in found.skipped:
        why.setdefault(skipped.reason, []).append(skipped.id)
    for reason, ids in why.items():
        rest = f" and {len(ids) - FEW} more" if len(ids) > FEW else ""
        print(f"Skipped {', '.join(ids[:FEW])}{rest}: {clean(reason)}")
    if not found.resumed:
        print("Nothing was resumed.")
    return 0


def local_clock(at: int) -> str:
    """The time of day where the user sits, with the day if that is not today's."""
    import time

    then, now = time.localtime(at / 1000), time.localtime()
    return time.strftime("%H:%M" if then[:3] == now[:3] else "%a %d %b, %H:%M", then)


def note(text: str) -> None:
    """Beside the output proper."""
    from holdfast.views.timeline import clean

    print(clean(text), file=sys.stderr, flush=True)


def complain(error: Exception) -> int:
    """One clear message, and the right exit code."""
    from holdfast.daemon import NoStart

    body = {"code": "unavailable", "message": str(error), "hint": "", "candidates": []}
    match error:
        case ApiError():
            body |= {"code": error.code, "message": error.message, "hint": error.hint}
            body |= {"candidates": list(error.candidates)}
            code = EXITS.get(error.code, FAILED)
        case BadConfig():
            body, code = body | {"code": "invalid"}, USAGE
        case NoStart() | DaemonDown() | DaemonLost() | OSError():
            code = FAILED
        case _:
            raise error
    if "--json" in sys.argv:
        say_json({"error": body})
    note(f"hold: {body['message']}" + (f"\n{body['hint']}" if body["hint"] else ""))
    return code


# --- on a terminal --------------------------------------------------------------------------------

COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "grey": 90, "bold": 1}


def coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text: str, colour: str) -> str:
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if text and coloured() else text


def columns(rows: Sequence[Sequence[str]], colours: Sequence[Sequence[str]] = ()) -> None:
    """Our own: a table of a library takes a second for a thousand rows."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    room = max(terminal_width() - sum(widths) - 2 * (len(widths) - 1) + widths[-1], 10)
    lines = []
    for n, row in enumerate(rows):
        last = row[-1] if len(row[-1]) <= room or not sys.stdout.isatty() else row[-1][:room]
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        if coloured() and n < len(colours):
            pairs = zip([*cells, last], colours[n], strict=False)
            line = "  ".join(paint(cell, colour) if colour else cell for cell, colour in pairs)
        else:
            line = "  ".join([*cells, last])
        lines.append(line.rstrip())
    print("\n".join(lines))


def terminal_width(otherwise: int = 100) -> int:
    import shutil

    return shutil.get_terminal_size((otherwise, 24)).columns


def home() -> Path:
    return state_folder(os.environ)
