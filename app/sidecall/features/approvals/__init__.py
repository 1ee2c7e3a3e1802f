"""Calls that wait for approval, and rules that decide in a person's place."""
