"""Patches as models write them (V4A): texts go in and come out, and no file is touched here."""
