"""FastMCP: MCP over streamable HTTP, which answers stateless requests of the 2026-07-28 protocol at /mcp."""

import logging
import sys

from fastmcp import FastMCP

mcp = FastMCP("bench")


@mcp.tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@mcp.tool
async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    options = {"access_log": False}
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, uvicorn_config=options)
