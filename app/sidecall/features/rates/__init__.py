"""How many calls a caller may make in a time."""
