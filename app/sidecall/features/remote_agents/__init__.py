"""Agents elsewhere as tools."""
