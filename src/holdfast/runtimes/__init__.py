"""Where a process lives, and how to be sure that it is dead (SPEC H1)."""
