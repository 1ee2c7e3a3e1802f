"""The cost of storing calls."""
