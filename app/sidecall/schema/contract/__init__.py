"""What callers of a tool rely on: its name, description and parameters."""
