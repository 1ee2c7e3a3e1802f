"""Programs that run inside a sandbox; the server imports none of them."""
