"""What the feature mcp_server adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="mcp_server",
    settings_off={"mcp": False},
    commands={
        "mcp": "sidecall.features.mcp_server.cli:mcp",
        "mcp-servers": "sidecall.features.mcp_server.cli:mcp_servers",
    },
)
