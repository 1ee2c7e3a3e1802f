"""Spans of calls that stay small: written when their call ends, and the SDK's as soon as somebody looks closer."""
