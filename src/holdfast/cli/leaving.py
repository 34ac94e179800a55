"""How a follower is told to let go: hang-up, termination, and on a terminal Ctrl-Q. The run goes on.

Ctrl-Q becomes the terminal's quit character while we follow, so that it arrives as a signal: no
thread has to read the keyboard, and a question can be asked meanwhile.
"""

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType

CTRL_Q = b"\x11"
SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)


class Left(BaseException):
    """Like KeyboardInterrupt: nothing in between may swallow it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def may_leave() -> Iterator[None]:
    def leave(number: int, _frame: FrameType | None) -> None:
        raise Left(number)

    before = {number: signal.signal(number, leave) for number in SIGNALS}
    try:
        with _ctrl_q():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _ctrl_q() -> Iterator[None]:
    if not sys.stdin.isatty():
        yield
        return
    import termios

    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    changed = termios.tcgetattr(file)
    changed[0] &= ~termios.IXON  # else Ctrl-Q only lets output go on
    changed[6][termios.VQUIT] = CTRL_Q
    termios.tcsetattr(file, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)
