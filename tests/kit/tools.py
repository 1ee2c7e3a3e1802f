"""Tools for tests that do not depend on what a tool does."""

import asyncio
from typing import Any

from sidecall import BaseTool, tool


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


def make_hang(**options: Any) -> BaseTool:
    """Make a tool that takes a second."""

    async def hang() -> str:
        await asyncio.sleep(1)
        return "done"

    made: BaseTool = tool("hang", description="Hang.", **options)(hang)
    return made


def make_give(value: Any, **options: Any) -> BaseTool:
    """Make a tool that returns this value."""

    async def give() -> Any:
        return value

    made: BaseTool = tool("give", description="Give.", **options)(give)
    return made
