"""Render tools in the form of each provider's API."""
