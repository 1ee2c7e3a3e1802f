"""SQLite: a file, the process or thread that writes it, and those that read it."""
