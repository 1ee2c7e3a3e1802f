"""Check the arguments against the tool's schema: the function itself, since all calls would pass one around it."""

from sidecall.schema.arguments import validate

__all__ = ["validate"]
