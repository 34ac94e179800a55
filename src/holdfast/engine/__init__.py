"""The one loop: input, decide, journal, errands, world, input."""
