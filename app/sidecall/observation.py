"""What is seen of a server from outside: its metrics, logs and traces, and the history of its calls."""

from sidecall.executors.table import Executors
from sidecall.history.history import History, NoHistory
from sidecall.ledger.base import Ledger
from sidecall.lifecycle import Lifecycle
from sidecall.pipeline.admission import Admission
from sidecall.registry import Registry
from sidecall.settings import Settings
from sidecall.telemetry.calls import CallTelemetry
from sidecall.telemetry.lines import CallLines
from sidecall.telemetry.metrics import Metrics
from sidecall.telemetry.redact import Redaction
from sidecall.telemetry.tracing import open_tracing

_DROPPED = "Calls that are not in the history, since there was no room for them."


def build_metrics(
    registry: Registry,
    executors: Executors,
    admission: Admission,
    ledger: Ledger,
    lifecycle: Lifecycle | None,
) -> Metrics:
    """Measure what a server's parts do, under their names for Prometheus."""
    metrics = Metrics(lambda: registry.names)
    metrics.add_executors(executors, admission.abandoned)
    metrics.add_gauge("sidecall_queue_length", "Calls that wait to be let in.", lambda: admission.waiting)
    metrics.add_gauge("sidecall_store_usable", "Whether the store can be used.", lambda: ledger.trouble is None)
    if lifecycle is not None:  # Under another server nobody counts them.
        connections, requests = lifecycle.connections, lifecycle.in_flight
        metrics.add_gauge("sidecall_connections", "Connections that are open.", lambda: len(connections))
        metrics.add_gauge("sidecall_requests_in_flight", "Requests that are not answered yet.", lambda: len(requests))
    return metrics


def build_telemetry(
    settings: Settings, metrics: Metrics, redaction: Redaction, history: History | NoHistory
) -> CallTelemetry:
    """Report each call to metrics, logs, traces and the history, as the settings say."""
    metrics.add_counter("sidecall_history_calls_dropped", _DROPPED, lambda: history.dropped)
    lines = CallLines(wanted=settings.log_calls, with_content=settings.log_args, redaction=redaction)
    return CallTelemetry(metrics, lines, open_tracing(settings.otel, redaction), history.note)
