"""Calls that wait for a person, and rules that decide in their place."""
