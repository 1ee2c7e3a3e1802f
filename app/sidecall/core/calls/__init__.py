"""Calls that are remembered: what became of each, and those that go on without their client."""
