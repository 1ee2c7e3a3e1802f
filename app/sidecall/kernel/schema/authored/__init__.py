"""Find mistakes of authors: what cannot work, or not everywhere."""
