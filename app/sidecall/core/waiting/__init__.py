"""How calls wait for what others have taken: callers take turns."""
