"""Adopt tools, toolkits and contexts of other libraries."""
