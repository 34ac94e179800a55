"""How often this process looks for cycles of garbage.

Our values hold only values and are not tracked at all, so nearly everything that is tracked here is
alive. Python's default looks after every 700 new objects, which costs a fifth of the time it takes to
bring back a long conversation, and finds nothing.
"""

import gc


def tune() -> None:
    """For a process that is ours: the daemon, or whoever runs an agent with the library."""
    gc.set_threshold(50_000, 20, 50)
