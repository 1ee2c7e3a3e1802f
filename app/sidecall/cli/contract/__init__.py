"""Locking what callers rely on."""
