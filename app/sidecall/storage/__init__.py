"""Storage: SQLite, PostgreSQL and memory."""
