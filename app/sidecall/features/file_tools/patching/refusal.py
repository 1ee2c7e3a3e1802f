"""Messages to a model whose patch cannot be applied."""

from sidecall.kernel.core.errors import ToolException

_LONGEST = 160


class PatchRefused(ToolException):
    """The patch cannot be applied, and nothing was changed."""


def quote_line(text: str) -> str:
    """Put a line in quotes that show its spaces, cut where it is long."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"`{shown}`"
