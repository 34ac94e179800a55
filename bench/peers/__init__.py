"""Other products doing the same work, each a script run in its own process."""
