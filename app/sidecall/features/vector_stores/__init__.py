"""Uploaded files, searched by words and by meaning."""
