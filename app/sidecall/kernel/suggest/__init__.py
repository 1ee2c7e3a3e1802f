"""Find the name that a misspelled one was likely meant to be."""
