"""universal-tool-server: LangChain's own try at serving tools."""

import sys

import uvicorn
from universal_tool_server import Server

server = Server()


@server.add_tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.add_tool
async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


if __name__ == "__main__":
    uvicorn.run(server.app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False)
