"""The official SDK of MCP, which answers stateless requests of the 2026-07-28 protocol at /mcp."""

import logging
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

mcp = MCPServer("bench")


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
    app = mcp.streamable_http_app(stateless_http=True, json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False)
