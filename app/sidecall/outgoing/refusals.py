"""What a model reads where its request may not go."""

from sidecall.core.errors import ToolException


class OutgoingRefused(ToolException):
    """The request may not be sent, or its answer may not be read."""
