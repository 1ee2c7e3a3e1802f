"""What becomes of a server under the worst that tools, callers and operators do to it."""
