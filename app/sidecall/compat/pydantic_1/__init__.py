"""Support for models of pydantic 1."""
