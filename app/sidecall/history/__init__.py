"""Calls that have ended: each is noted at its end, written behind in groups, and can be asked for afterwards."""
