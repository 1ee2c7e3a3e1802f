"""What the feature mcp_server adds to a server."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Feature


class McpFields(BaseSettings, defer_build=True):
    """Whether the tools are served over MCP, too."""

    mcp: bool = Field(default=True, description="Serve the tools at `/mcp` too, for clients of MCP.")
    mcp_sessions: bool = Field(
        default=True,
        description="Give clients of MCP's earlier revisions sessions, by which they cancel calls. With several "
        "workers, or a store that servers share, there are none.",
    )


FEATURE = Feature(
    name="mcp_server",
    settings_off={"mcp": False},
    commands={
        "mcp": "sidecall.features.mcp_server.cli:mcp",
        "mcp-servers": "sidecall.features.mcp_server.cli:mcp_servers",
    },
)
