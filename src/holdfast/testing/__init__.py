"""Fakes that we ship: a clock under control, scripted agents, a world that can be cut off anywhere."""
