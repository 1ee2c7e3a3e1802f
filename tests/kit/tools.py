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


@tool
async def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b
