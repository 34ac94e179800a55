"""Whatever can work: the built-in loop, agents that speak ACP, agents in a terminal."""
