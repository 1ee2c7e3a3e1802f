"""Authentication of callers, and their scopes."""
