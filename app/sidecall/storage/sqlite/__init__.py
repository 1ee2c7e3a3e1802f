"""SQLite: a file, the process or thread that writes it, and its readers."""
