"""What tests say of MCP servers, as an `mcp.json` has it."""

import json
import sys
from pathlib import Path
from typing import Any

# A file with a tool of our own.
MINE = """
from sidecall import tool


@tool
def {name}(words: str) -> str:
    '''Answer.'''
    return f"mine {{words}}"
"""

SERVER = Path(__file__).with_name("server.py")


def write_servers(**servers: Any) -> str:
    """Write the text of an `mcp.json`."""
    return json.dumps({"mcpServers": servers})


def describe_kit(*modes: str, **more: Any) -> dict[str, Any]:
    """Describe the small server of the tests."""
    return {"command": sys.executable, "args": [str(SERVER), *modes], **more}
