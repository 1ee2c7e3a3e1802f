"""Rate limits of callers."""
