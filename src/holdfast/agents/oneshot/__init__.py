"""Agents that are started once for each turn and print JSON lines: `claude -p`, `codex exec` and kin."""
