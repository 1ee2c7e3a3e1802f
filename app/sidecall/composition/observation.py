"""Build a server's observability: metrics, logs, traces, and upstream MCP servers."""

from typing import TYPE_CHECKING

from sidecall.features.history.no_history import NoHistory
from sidecall.features.mcp_client.link import LinkBounds
from sidecall.features.mcp_client.upstream import Upstream, UpstreamSettings, open_upstream
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.lines import CallLines
from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.tracing import open_tracing
from sidecall.kernel.executors.table import Executors
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.admission import Admission
from sidecall.kernel.registry import Registry
from sidecall.settings import Settings
from sidecall.storage.ledger import Ledger

if TYPE_CHECKING:
    from sidecall.features.history import history as _history

_STUCK = "Seconds for which code on the event loop held up everything, in stretches of half a second and more."
_LOST = "Spans that their collector has not taken."
_WAITING = "Calls that wait for a person, of all tenants and servers of the store."
_DROPPED = "Calls that are not in the history, since there was no room for them."


def build_metrics(
    registry: Registry,
    executors: Executors,
    admission: Admission,
    ledger: Ledger,
    lifecycle: Lifecycle | None,
) -> Metrics:
    """Build the Prometheus metrics of a server's parts."""
    peers = None if lifecycle is None else lifecycle.peers
    counts = None if peers is None else peers.counts
    metrics = Metrics(lambda: registry.names, {} if lifecycle is None else lifecycle.refused, counts)
    metrics.add_executors(executors, admission.abandoned)
    metrics.add_gauge("sidecall_queue_length", "Calls that wait to be let in.", lambda: admission.waiting)
    metrics.add_gauge("sidecall_store_usable", "Whether the store can be used.", lambda: ledger.trouble is None)
    metrics.add_gauge("sidecall_approvals_waiting", _WAITING, lambda: metrics.waiting_approvals)
    if lifecycle is not None:  # Other servers do not count them.
        connections, requests = lifecycle.connections, lifecycle.in_flight
        metrics.add_gauge("sidecall_connections", "Connections that are open.", lambda: len(connections))
        metrics.add_gauge("sidecall_requests_in_flight", "Requests that are not answered yet.", lambda: len(requests))
        metrics.add_counter("sidecall_event_loop_stuck_seconds", _STUCK, lambda: lifecycle.stuck_seconds)
    return metrics


def build_upstream(settings: Settings, registry: Registry, metrics: Metrics) -> Upstream:
    """Build the connections to upstream MCP servers, with metrics of their state.

    Raises:
        InvalidMcpServers: The setting names none, or the extra is not installed.
        InvalidPins: The file of pins cannot be read.
    """
    if settings.mcp_servers is None:
        return Upstream({}, registry)
    bounds = LinkBounds(settings.max_result_bytes, settings.mcp_max_tools)
    pins = settings.mcp_pins_file if settings.mcp_pin else None
    wanted = UpstreamSettings(bounds=bounds, connect_timeout=settings.mcp_connect_timeout, pins=pins)
    upstream = open_upstream(settings.mcp_servers, registry, wanted)
    _measure_upstream(metrics, upstream)
    return upstream


def _measure_upstream(metrics: Metrics, upstream: Upstream) -> None:
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


def build_telemetry(
    settings: Settings, metrics: Metrics, redaction: Redaction, history: "_history.History | NoHistory"
) -> CallTelemetry:
    """Build the observers of calls: metrics, logs, traces and history, as the settings say."""
    metrics.add_counter("sidecall_history_calls_dropped", _DROPPED, lambda: history.dropped)
    metrics.requests.logs = settings.log_requests
    lines = CallLines(wanted=settings.log_calls, with_content=settings.log_args, redaction=redaction)
    tracing = open_tracing(settings.otel, redaction)
    if tracing is not None and tracing.dropped is not None:
        metrics.add_counter("sidecall_spans_dropped", _LOST, lambda: tracing.dropped or 0)
    return CallTelemetry(metrics, lines, tracing, history.notes)
