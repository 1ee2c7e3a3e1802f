"""Shared parts of the commands: options, tables, JSON, and requests to a running server."""
