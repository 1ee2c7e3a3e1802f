"""One start script and one list of exact pins per peer; each serves `add` (sync) and `echo` (async)."""
