"""Durable calls: their entries, events and routes."""
