"""What the feature mcp_client adds to a server, and its settings."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import OPERATE


class UpstreamFields(BaseSettings, defer_build=True):
    """Which MCP servers there are, and what they may do."""

    mcp_servers: str | None = Field(
        default=None, description="MCP servers whose tools are offered too: the path of an `mcp.json`, or its text."
    )
    mcp_connect_timeout: float = Field(
        default=30.0,
        gt=0,
        allow_inf_nan=False,
        description="Seconds in which such a server has to start and to list its tools; then it is tried again.",
    )
    mcp_max_tools: int = Field(
        default=1000, ge=1, description="Most tools of one such server; one that lists more is not connected to."
    )
    mcp_pin: bool = Field(
        default=False,
        description="Whether a tool of theirs that says something else than before waits until an operator accepts it.",
    )
    mcp_pins_file: Path = Field(
        default=Path(".sidecall/mcp-pins.json"),
        description="File with the hashes of what was accepted; `sidecall mcp-servers` shows and changes it.",
    )


_ROUTES = "sidecall.features.mcp_client.routes"

FEATURE = Feature(
    name="mcp_client",
    settings_off={"mcp_servers": None},
    part="sidecall.features.mcp_client.upstream:make_upstream",
    build="sidecall.features.mcp_client.gauges:build",
    routes=(
        Route("GET", "/mcp-servers", f"{_ROUTES}:list_mcp_servers", OPERATE),
        Route("POST", "/mcp-servers/{name:path}/accept", f"{_ROUTES}:accept_mcp_tools", OPERATE),
    ),
    forms=(f"{_ROUTES}:Acceptance",),
)
