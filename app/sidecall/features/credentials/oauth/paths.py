"""Paths where sign-in begins and ends."""

START, CALLBACK = "/oauth/start", "/oauth/callback"
