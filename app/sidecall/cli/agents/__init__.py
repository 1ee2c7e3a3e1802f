"""Agents elsewhere, from the command line."""
