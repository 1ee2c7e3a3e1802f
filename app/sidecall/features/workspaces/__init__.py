"""The files of conversations."""
