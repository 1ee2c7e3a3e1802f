"""Messages to a model whose patch cannot be applied."""

from sidecall.kernel.core.errors import ToolException

_LONGEST = 160


class PatchRefused(ToolException):
    """The patch cannot be applied, and nothing was changed."""


def quote_line(text: str) -> str:
    """Quote a line so that its spaces are visible, cut if it is long."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"`{shown}`"
