"""Texts that are found again by their words: cut into pieces, kept in an index of SQLite, chosen by filters."""
