"""Protocols that features implement for tools and the pipeline, and types for parameters."""
