"""Compile functions, models and JSON Schemas into tools, before any call: what the kernel then runs."""
