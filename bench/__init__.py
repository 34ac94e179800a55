"""Benchmarks: the cost of a checkpoint, beside a hand-written floor and the peers."""
