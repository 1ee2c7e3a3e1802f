"""Where persons begin to sign in, and where they come back to."""

START, CALLBACK = "/oauth/start", "/oauth/callback"
