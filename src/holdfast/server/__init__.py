"""HTTP and WebSocket: handlers parse, submit and answer. What may be done is decided in the core."""
