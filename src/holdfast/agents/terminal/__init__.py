"""Agents in terminals: they live on without us, and their own record says what they do."""
