"""Checks of `sidecall check` besides the tools' own findings."""
