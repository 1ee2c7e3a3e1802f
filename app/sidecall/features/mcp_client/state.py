"""The state of an MCP server."""

from typing import Literal

UpstreamState = Literal["connecting", "connected", "down"]
