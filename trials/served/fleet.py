"""Tools that are called at one server, and watched, waited for and cancelled at others."""

import asyncio
import os
import time

from sidecall import ToolContext, tool


@tool
async def hold(seconds: float) -> str:
    """Wait.

    Args:
        seconds: For how long.
    """
    await asyncio.sleep(seconds)
    return "held"


@tool
async def count(most: int, context: ToolContext) -> str:
    """Say each number, and wait for a moment after each ten.

    Args:
        most: The last one.
        context: Hears them.
    """
    for number in range(1, most + 1):
        context.report_progress(number, most)
        if number % 10 == 0:
            await asyncio.sleep(0.01)
    return "counted"


@tool(requires_approval=True)
async def ask(number: int) -> str:
    """Do something that a person has to allow.

    Args:
        number: Tells one call from another.
    """
    return f"did {number}"


@tool
async def where() -> str:
    """Say which process runs this."""
    return str(os.getpid())


@tool(executor="process")
def work(seconds: float) -> str:
    """Keep a process busy, as a computation does that has a core of its own.

    Args:
        seconds: For how long.
    """
    time.sleep(seconds)
    return "worked"
