"""Parse, write and point into JSON."""
