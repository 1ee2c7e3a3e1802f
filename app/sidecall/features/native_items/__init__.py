"""Providers' built-in tools, and the items in which they are called."""
