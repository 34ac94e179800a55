"""Ways to tell a person."""
