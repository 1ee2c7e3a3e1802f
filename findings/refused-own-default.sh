#!/usr/bin/env bash
# A server refuses the default that its own schema lists: Python's `title: str = None`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check fastmcp==2.14.7 mcp==1.30.0 2>/dev/null
"$folder/env/bin/python" - 2>/dev/null <<'PYTHON'
import asyncio
import sys
from importlib.metadata import version

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("finding")


@server.tool
def create(name: str, title: str = None) -> str:
    return f"{name} {title}"


async def ask() -> tuple[object, str]:
    async with Client(server) as client:
        schema = (await client.list_tools())[0].inputSchema["properties"]["title"]
        try:
            answer = await client.call_tool("create", {"name": "a", "title": schema["default"]})
        except ToolError as error:
            return schema, str(error)
        return schema, answer.content[0].text


schema, said = asyncio.run(ask())
print("fastmcp", version("fastmcp"), "pydantic", version("pydantic"), schema, "->", " ".join(said.split()))
sys.exit(schema != {"default": None, "type": "string"} or "Input should be a valid string" not in said)
PYTHON
