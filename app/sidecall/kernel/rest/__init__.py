"""The HTTP side: bytes in, bytes out, and nothing about how tools run."""
