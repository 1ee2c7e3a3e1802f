"""What the feature mcp_client adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="mcp_client",
    settings_off={"mcp_servers": None},
)
