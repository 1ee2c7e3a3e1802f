#!/usr/bin/env bash
# A FastMCP server whose author gives no version says FastMCP's as its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check fastmcp==4.2.3 2>/dev/null
"$folder/env/bin/python" - 2>/dev/null <<'PYTHON'
import asyncio
import sys
from importlib.metadata import version

from fastmcp import FastMCP
from mcp import Client

server = FastMCP("notes")


async def ask() -> str:
    async with Client(getattr(server, "_mcp_server", server)) as client:
        return str(client.server_info.version)


said = asyncio.run(ask())
print("fastmcp", version("fastmcp"), "serverInfo.version of a server without one:", said)
sys.exit(said != version("fastmcp"))
PYTHON
