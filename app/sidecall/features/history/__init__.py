"""The calls that have ended, and what became of each."""
