"""The built-in agent: a loop, its tools, and the sandbox that its commands run in (SPEC B)."""
