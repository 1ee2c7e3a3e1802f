"""Secrets of the server and of callers, and OAuth tokens of persons."""
