"""Holdfast runs coding agents and never loses their place."""
