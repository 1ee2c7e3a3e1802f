"""Who calls."""
