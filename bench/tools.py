"""The tools that the benchmark serves."""

import asyncio

from sidecall import ToolAnnotations, tool


@tool
async def echo(text: str) -> str:
    """Return the text unchanged.

    Args:
        text: Anything.
    """
    return text


@tool(annotations=ToolAnnotations(idempotent=True))
async def echo_again(text: str) -> str:
    """Return the text unchanged, as a tool does that may run again.

    Args:
        text: Anything.
    """
    return text


@tool
def add(a: int, b: int) -> int:
    """Add two integers in a thread, where sync tools run unless they say otherwise.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool("add_inline", executor="inline")
def add_inline(a: int, b: int) -> int:
    """Add two integers on the event loop, as its author promises that it is quick.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool
async def pause(seconds: float) -> str:
    """Take a while, as a tool does that waits for somebody else.

    Args:
        seconds: How long.
    """
    await asyncio.sleep(seconds)
    return "done"
