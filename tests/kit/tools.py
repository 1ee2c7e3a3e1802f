"""Tools for tests to which it does not matter what a tool does."""

from sidecall import tool


@tool
async def ping() -> str:
    """Answer."""
    return "pong"


@tool
async def echo(text: str) -> str:
    """Repeat a text.

    Args:
        text: What to repeat.
    """
    return text
