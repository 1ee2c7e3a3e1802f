"""Patches as models write them (V4A), from text to text, without files."""
