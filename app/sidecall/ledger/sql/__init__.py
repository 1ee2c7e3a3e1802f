"""What is remembered in a database: one set of statements, on SQLite and on PostgreSQL."""
