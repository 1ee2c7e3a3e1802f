"""How the server is, in one answer."""
