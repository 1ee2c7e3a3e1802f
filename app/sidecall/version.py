"""State the version, once."""

__version__ = "0.1.0"
