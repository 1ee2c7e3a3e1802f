"""The REST API: bytes in, bytes out; it does not know how tools run."""
