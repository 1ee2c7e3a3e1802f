"""Calls that rely on what a tool was, and tools that shall not be relied on any more."""
