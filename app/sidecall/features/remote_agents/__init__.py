"""Remote agents as tools."""
