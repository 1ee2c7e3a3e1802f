"""The tools that the benchmark serves."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from bench.work import Item, make_rows
from sidecall import ToolAnnotations, ToolContext, tool


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


@tool
async def report(times: int, context: ToolContext) -> str:
    """Tell of progress, and let the loop have a turn after each hundred.

    Args:
        times: How often.
        context: Hears it.
    """
    for number in range(times):
        context.report_progress(number, times, "on the way")
        if number % 100 == 99:
            await asyncio.sleep(0)
    return "done"


@tool
async def tell(times: int, context: ToolContext) -> str:
    """Tell of progress, and wait each time until there is room for it.

    Args:
        times: How often.
        context: Hears it.
    """
    for number in range(times):
        await context.progress(number, times, "on the way")
    return "done"


@tool
async def split(times: int) -> AsyncIterator[str]:
    """Yield parts without ever waiting.

    Args:
        times: How many.
    """
    for _ in range(times):
        yield "x"


@tool
async def rows(count: int) -> list[dict[str, Any]]:
    """Return rows, as a database does.

    Args:
        count: How many.
    """
    return make_rows(count)


@tool
async def take(items: list[Item]) -> str:
    """Count rows that are read as models.

    Args:
        items: The rows.
    """
    return str(len(items))


@tool(response_format="content_and_artifact")
async def table(count: int) -> tuple[str, list[dict[str, Any]]]:
    """Return rows as an artifact.

    Args:
        count: How many.
    """
    return "rows", make_rows(count)
