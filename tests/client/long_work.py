"""Tools that their server runs in the background: their calls are answered with 202, and a place."""

import asyncio

from sidecall import ToolContext, ToolException, tool


@tool(background=True, response_format="content_and_artifact")
async def export(rows: int, context: ToolContext) -> tuple[str, dict[str, int]]:
    """Export rows, for longer than a client waits in one request.

    Args:
        rows: How many.
    """
    await context.progress(1, 1, "exporting")
    await asyncio.sleep(0.3)
    return f"{rows} rows", {"rows": rows}


@tool(background=True)
async def spoil(why: str) -> str:
    """Fail."""
    raise ToolException(why)


@tool(background=True, requires_approval=True)
async def purge(disk: str) -> str:
    """Purge a disk."""
    return f"{disk} is empty."


@tool
async def shout(text: str) -> str:
    """Shout a text, at once."""
    return text.upper()
