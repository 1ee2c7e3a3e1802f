"""Find the secrets of a call, and keep them out of what it is answered with."""
