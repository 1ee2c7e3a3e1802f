"""Parse the sections of a docstring: simple ones directly, others with griffe, which is slow to load."""
