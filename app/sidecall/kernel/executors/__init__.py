"""Executors: where a tool's function runs."""
