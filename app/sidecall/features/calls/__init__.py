"""Calls that are remembered: their entries, events and routes."""
