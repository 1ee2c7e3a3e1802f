"""A cache of answers of tools."""
