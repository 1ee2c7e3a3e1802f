"""What the feature mcp_client adds to a server, its settings, and what the metrics say of it."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Built, Feature, Host, Route
from sidecall.kernel.core.scopes import OPERATE

if TYPE_CHECKING:
    from sidecall.features.mcp_client.upstream import Upstream
    from sidecall.features.telemetry.metrics import Metrics


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


def _build(host: Host) -> Built:
    """Show the state of each server in the metrics, where there are any."""
    return Built() if host.part is None else Built(add_metrics=partial(_add_gauges, host.part))


def _add_gauges(upstream: "Upstream", metrics: "Metrics") -> None:
    servers = upstream.servers
    metrics.add_gauge_of(
        "sidecall_mcp_server_up",
        "Whether an MCP server whose tools are offered is connected.",
        "server",
        lambda: {server.name: server.state == "connected" for server in servers},
    )
    metrics.add_gauge_of(
        "sidecall_mcp_server_tools", "Tools of it that are offered.", "server", lambda: dict(upstream.offered)
    )
    metrics.add_gauge_of(
        "sidecall_mcp_server_waiting_tools",
        "Tools of it that wait for an operator, since they have changed.",
        "server",
        lambda: {server.name: len(upstream.waiting.get(server.name, ())) for server in servers},
    )
    metrics.add_gauge_of(
        "sidecall_mcp_server_connects",
        "How often it was connected to since this process started.",
        "server",
        lambda: {server.name: server.connects for server in servers},
    )


_ROUTES = "sidecall.features.mcp_client.routes"

FEATURE = Feature(
    name="mcp_client",
    settings_off={"mcp_servers": None},
    part="sidecall.features.mcp_client.upstream:make_upstream",
    build=_build,
    routes=(
        Route("GET", "/mcp-servers", f"{_ROUTES}:list_mcp_servers", OPERATE),
        Route("POST", "/mcp-servers/{name:path}/accept", f"{_ROUTES}:accept_mcp_tools", OPERATE),
    ),
    forms=(f"{_ROUTES}:Acceptance",),
)
