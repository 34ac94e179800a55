"""Every decision of the product, as functions of values. No I/O, no clock, no randomness."""
