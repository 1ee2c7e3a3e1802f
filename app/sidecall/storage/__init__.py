"""Where everything is kept: SQLite and PostgreSQL, and memory."""
