"""Where a tool runs."""
