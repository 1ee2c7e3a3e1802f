"""Agents of other programs, offered as tools."""
