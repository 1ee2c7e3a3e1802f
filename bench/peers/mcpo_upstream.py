"""The MCP server behind mcpo."""

import logging

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("bench")


@mcp.tool()
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@mcp.tool()
async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    mcp.run("stdio")
