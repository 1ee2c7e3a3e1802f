"""Confined programs: shell commands and Python of models."""
