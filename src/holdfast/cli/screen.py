"""Where a run is shown: running text, lines of their own, and on a terminal one line of progress.

The progress line stands only where nothing else does: it is wiped before anything is printed, and
is not drawn while running text has not ended its line. In a pipe there is none.
"""

import shutil
import sys
import time

from holdfast.cli.output import paint
from holdfast.views.moments import span
from holdfast.views.timeline import Shown, Tone, clean

WIPE = "\r\x1b[2K"
FRAMES = "|/-\\"
PAINTS = {
    Tone.YOURS: "bold",
    Tone.QUIET: "grey",
    Tone.NOTICE: "yellow",
    Tone.TROUBLE: "red",
    Tone.DONE: "green",
}


class Screen:
    def __init__(self) -> None:
        self._live = sys.stdout.isatty() and sys.stderr.isatty()
        self._at_start = True
        self._drawn = False
        self._begun = time.monotonic()
        self._frame = 0

    def show(self, shown: Shown) -> None:
        self.wipe()
        if shown.whole:
            colour = PAINTS.get(shown.tone)
            self.line(paint(shown.text, colour) if colour else shown.text)
            return
        sys.stdout.write(shown.text)
        sys.stdout.flush()
        self._at_start = shown.text.endswith("\n")

    def end(self) -> None:
        """Whatever comes next begins on a line of its own."""
        if not self._at_start:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._at_start = True

    def line(self, text: str) -> None:
        self.wipe()
        sys.stdout.write(("" if self._at_start else "\n") + text + "\n")
        sys.stdout.flush()
        self._at_start = True

    def progress(self, doing: str, round: int, used: str = "") -> None:
        """Cut to the width of the terminal: a line that wraps could not be wiped."""
        if not self._live or not self._at_start:
            return
        self._frame = (self._frame + 1) % len(FRAMES)
        elapsed = span(int((time.monotonic() - self._begun) * 1000))
        known = [f"round {round}"] if round else []
        known += [used] if used else []
        tail = ", ".join([*known, elapsed])
        room = shutil.get_terminal_size((80, 24)).columns - len(tail) - 6
        words = " ".join(clean(doing).split())[: max(room, 10)]
        sys.stderr.write(f"{WIPE}{FRAMES[self._frame]} {words} ({tail})")
        sys.stderr.flush()
        self._drawn = True

    def wipe(self) -> None:
        if self._drawn:
            sys.stderr.write(WIPE)
            sys.stderr.flush()
            self._drawn = False
