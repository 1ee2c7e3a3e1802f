"""Contracts: hashes of tools, the lock file, and calls that are pinned to them."""
