"""The status of the server, and of the last two hours."""
