"""Secrets of the server and of callers, and tokens of persons who have signed in elsewhere."""
