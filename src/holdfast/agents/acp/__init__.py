"""Agents that speak the Agent Client Protocol, each a process of its own."""
