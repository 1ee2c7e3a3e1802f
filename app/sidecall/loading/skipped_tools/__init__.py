"""Find what looks like an offer of a module and is none."""
