"""Tools that look around in a sandbox; a process loads this file again to find them."""

import os
import socket
from typing import Annotated, Any

from sidecall import Secret, ToolContext, tool


def sees(path: str) -> bool:
    """Return whether there is a file."""
    return os.path.exists(path)


@tool(executor="sandbox")
async def look_around(path: str, port: int, key: Annotated[str, Secret("SANDBOX_KEY")], context: ToolContext) -> Any:
    """Say what can be seen.

    Args:
        path: A file outside.
        port: Where the machine listens.
    """
    try:
        with socket.create_connection(("127.0.0.1", port), 2):
            reached = True
    except OSError:
        reached = False
    return {
        "sees": sees(path),
        "reaches": reached,
        "environment": sorted(os.environ.keys() - {"PWD"}),
        "key": len(key),
        "said": dict(context.context),
    }


@tool(executor="sandbox", timeout=1)
def never_end() -> None:
    """Run on."""
    while True:
        pass


@tool(executor="sandbox", memory_limit_mb=64)
def take_memory() -> int:
    """Take more than there is."""
    return len(bytearray(600_000_000))


@tool(executor="sandbox")
def say() -> str:
    """Say where."""
    return "here"
