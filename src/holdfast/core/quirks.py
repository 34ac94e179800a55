"""Known faults of agents that change how they are brought back. Profiles name them; what follows is here."""

from collections.abc import Collection

from holdfast.core.ids import Millis

SAME_MINUTE_LOAD = "same_minute_load"
BARE_CALLS = "bare_calls"
MINUTE, MARGIN = 60_000, 1_000


def load_not_before(quirks: Collection[str], named_at: Millis) -> Millis:
    """The earliest moment at which a conversation may be loaded. `named_at`: when we learned its name,
    a little after it began. One that is loaded in the minute in which it began is lost."""
    if SAME_MINUTE_LOAD not in quirks:
        return Millis(0)
    return Millis(named_at - named_at % MINUTE + MINUTE + MARGIN)
