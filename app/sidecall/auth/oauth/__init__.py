"""Let persons sign in elsewhere, so that tools may act for them there: OAuth 2.0 (RFC 6749, RFC 9700)."""
