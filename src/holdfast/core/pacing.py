"""How many come back at once: a herd that wakes together is limited together (SPEC F8, I1)."""

AT_ONCE = 4  # that are on their way up at the same time
PAUSE_MS = 200  # between two beginnings, at the least; twice that at the most


def pause_before(place: int, chance: float) -> int:
    """Milliseconds that the one at this place (from 0) waits once it is its turn. `chance`: 0 to 1."""
    return 0 if place < AT_ONCE else PAUSE_MS + int(PAUSE_MS * chance)
