"""Helpers of the load: a collector of spans, an issuer of tokens."""
