"""Tools that take their time."""

import asyncio
import itertools
import time

from sidecall import ToolContext, tool

begun = itertools.count(1)


@tool
async def nap(seconds: float, context: ToolContext) -> str:
    """Sleep.

    Args:
        seconds: How long.
    """
    context.log.info("begun: %d. (%g s)", next(begun), seconds)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        context.log.info("cancelled")
        raise
    return "slept"


@tool
async def insist(seconds: float, context: ToolContext) -> str:
    """Sleep, no matter what comes.

    Args:
        seconds: How long.
    """
    context.log.info("begun: %d. (%g s)", next(begun), seconds)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            context.log.info("I insist")
    return "slept"


@tool
def block(seconds: float, context: ToolContext) -> str:
    """Hold a thread.

    Args:
        seconds: How long.
    """
    context.log.info("begun: %d. (%g s)", next(begun), seconds)
    time.sleep(seconds)
    return "slept"


@tool(executor="inline")
def freeze(seconds: float, context: ToolContext) -> str:
    """Hold the event loop.

    Args:
        seconds: How long.
    """
    context.log.info("begun: %d. (%g s)", next(begun), seconds)
    time.sleep(seconds)
    return "slept"
