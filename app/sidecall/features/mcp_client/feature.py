"""What the feature mcp_client adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import OPERATE

_ROUTES = "sidecall.features.mcp_client.routes"

FEATURE = Feature(
    name="mcp_client",
    settings_off={"mcp_servers": None},
    routes=(
        Route("GET", "/mcp-servers", f"{_ROUTES}:list_mcp_servers", OPERATE),
        Route("POST", "/mcp-servers/{name:path}/accept", f"{_ROUTES}:accept_mcp_tools", OPERATE),
    ),
    forms=(f"{_ROUTES}:Acceptance",),
)
