"""Events and errands on disk: one contract, two databases."""
