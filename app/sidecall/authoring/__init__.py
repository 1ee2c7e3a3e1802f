"""Authoring: the names with which tool authors write, exported by `sidecall`."""
