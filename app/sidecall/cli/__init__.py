"""The program `sidecall`, one command a file."""
