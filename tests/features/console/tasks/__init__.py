"""What people do in the console, in a real browser."""
