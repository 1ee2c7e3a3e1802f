"""The calls of providers' built-in tools on the wire."""
