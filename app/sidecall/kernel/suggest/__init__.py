"""Find the name that a misspelt one was likely meant to be."""
