"""What the metrics say of MCP servers whose tools are offered."""

from functools import partial

from sidecall.feature import Built, Host
from sidecall.features.mcp_client.upstream import Upstream
from sidecall.features.telemetry.metrics import Metrics


def build(host: Host) -> Built:
    """Show the state of each server in the metrics."""
    upstream: Upstream = host.part
    return Built(add_metrics=partial(_add_gauges, upstream))


def _add_gauges(upstream: Upstream, metrics: Metrics) -> None:
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
