"""History of ended calls."""
