"""Providers' built-in tools, and the items that call them."""
