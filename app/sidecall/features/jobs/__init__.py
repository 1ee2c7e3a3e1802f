"""Calls that run while nobody waits: accepted, run, recovered and completed."""
