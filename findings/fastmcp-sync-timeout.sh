#!/usr/bin/env bash
# The timeout of a FastMCP tool that is no coroutine says that it was reached once the tool has run to its end.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check fastmcp==4.2.3 2>/dev/null
"$folder/env/bin/python" - 2>/dev/null <<'PYTHON'
import asyncio
import sys
import time
from importlib.metadata import version

from fastmcp import Client, FastMCP

server = FastMCP("slow")
ended = []


@server.tool(timeout=0.2)
def wait() -> str:
    """Wait longer than it may."""
    time.sleep(1)
    ended.append(True)
    return "done"


async def call() -> tuple[bool, str]:
    async with Client(server) as client:
        result = await client.call_tool("wait", raise_on_error=False)
        return bool(ended), result.content[0].text


had_ended, text = asyncio.run(call())
print("fastmcp", version("fastmcp"), "answers:", repr(text), "when the tool had ended:", had_ended)
sys.exit(not (had_ended and "timed out" in text))
PYTHON
