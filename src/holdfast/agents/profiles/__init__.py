"""One file per agent: how it is started, resumed and read, and what is odd about it (SPEC E1)."""
