"""Calls that are remembered until they are answered, whether their client waits or not."""
