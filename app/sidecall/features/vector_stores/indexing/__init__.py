"""A full-text index: texts cut into pieces, stored in SQLite, filtered by attributes."""
