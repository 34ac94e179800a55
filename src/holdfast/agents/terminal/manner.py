"""How one agent in a terminal is read and spoken to, and how long it is waited for."""

from collections.abc import Mapping

from holdfast.agents.profiles.profile import Transcript
from holdfast.core.value import Value


class Waits(Value):
    """Seconds."""

    ready: float = 90.0
    still: float = 1.0  # a screen on which nothing moves for so long is ready
    hooks: float = (
        20.0  # for one that should say itself that it is: until then a screen may be a question
    )
    soft: float = 0.7  # after words that the record says are the last
    settle: float = 4.0  # after words of which nobody says so
    last_line: float = 3.0  # what an agent says of itself may overtake its record
    late: float = 6.0  # what is written so soon after a prompt, and before it, is an earlier turn's
    interrupt: float = 5.0
    paste: float = 0.15  # between a pasted text and the key that sends it
    arrive: float = 5.0  # for a prompt to be in the record
    lost: float = 30.0  # a prompt that is not there then was lost
    quiet: float = 300.0  # without a word: said once (SPEC E17)


class Manner(Value):
    """How one agent is read and spoken to."""

    format: str
    where: Transcript | None
    environ: Mapping[str, str]
    folder: str
    interrupt: tuple[str, ...]
    unknown: tuple[str, ...]
    hooks: bool = False  # it says itself what it is at
    busy: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    grant: tuple[str, ...] = ("1",)
    deny: tuple[str, ...] = ("Escape",)
