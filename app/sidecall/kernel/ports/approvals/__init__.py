"""Calls that wait for a person: what tools raise, what is asked, and where it is kept."""
