"""How the server is, and what the last two hours were like."""
