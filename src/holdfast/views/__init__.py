"""Events and sessions to what people see. Pure; folded once, here, for the cli and the page."""
