"""What other agents write down of their own conversations, read as turns."""
