"""Workspaces: the files of conversations."""
