"""Normalize foreign JSON Schemas of any draft to plain draft 2020-12."""
