"""Audit: decisions and refusals, with who made them."""
