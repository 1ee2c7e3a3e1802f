"""Sign-in at other services (OAuth), and the tokens that come of it."""
