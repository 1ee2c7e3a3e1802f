"""The destination of spans: the host's provider, or the exporters of the environment variables."""

import asyncio
import contextlib
import importlib
import logging
import os
import threading
from collections.abc import Iterator
from functools import partial
from importlib.metadata import entry_points
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider

from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.spans import CountedBatches, SpanLosses, Spans
from sidecall.features.telemetry.standard_variables import MissingExtra, report_losses
from sidecall.version import __version__

logger = logging.getLogger("sidecall")

# Seconds for which an unresponsive collector may delay the server's end.
_PATIENCE = 3.0
_PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
# The only exporter for which spans of calls are serialized here.
_QUICK = "otlp_proto_http"
_SDK_METRICS = "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED"


def open_spans(redaction: Redaction | None) -> Spans:
    """Make spans with the provider of this process, which the tools' own spans use too.

    Raises:
        MissingExtra: The environment asks for an exporter that is not installed.
        InvalidVariable: A standard variable is wrong.
    """
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        losses: SpanLosses | None = SpanLosses()
        provider = provider_from_environment(losses)
        trace.set_tracer_provider(provider)
    else:
        losses = None  # The part that made it tracks them.
    return Spans(provider, redaction, partial(flush, provider), losses)


def provider_from_environment(losses: SpanLosses | None = None) -> TracerProvider:
    """Make a provider from the standard variables `OTEL_…`.

    Raises:
        MissingExtra: They ask for an exporter that is not installed.
        InvalidVariable: One of them is wrong.
    """
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "sidecall", SERVICE_VERSION: __version__}))
    names = list(_exporters())
    if _QUICK in names:
        report_losses()
    exporters, losses = [_make_exporter(name) for name in names], losses or SpanLosses()
    found = _make_call_provider(resource, exporters[0], losses) if names == [_QUICK] and not _is_measured() else None
    if found is not None:
        return found
    # Not shut down at exit, which may take half a minute; the rest is sent when the server ends.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(CountedBatches(exporter, losses))
    return provider


def _make_exporter(name: str) -> Any:
    exporter = _load(name)()
    if name == _QUICK:
        # By name, since it needs the exporter's HTTP client.
        bounding: Any = importlib.import_module("sidecall.features.telemetry.request_timeout")
        bounding.bound_requests(exporter)
    return exporter


def _make_call_provider(resource: Resource, exporter: Any, losses: SpanLosses) -> TracerProvider | None:
    # By name, since it needs this exporter's package.
    sending: Any = importlib.import_module("sidecall.features.telemetry.small_spans.sending")
    provider: TracerProvider | None = sending.make_call_provider(resource, exporter, losses)
    return provider


def _is_measured() -> bool:
    """Return whether the SDK should count its own work, which it does for its own spans only."""
    return os.environ.get(_SDK_METRICS, "").strip().lower() == "true"


def _exporters() -> Iterator[str]:
    # An empty one counts as not set, by their specification.
    protocol = (
        os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
        or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "http/protobuf"
    )
    for name in (os.environ.get("OTEL_TRACES_EXPORTER") or "otlp").split(","):
        if name.strip() == "otlp":
            yield _PROTOCOLS.get(protocol, protocol)
        elif name.strip() not in ("", "none"):
            yield name.strip()


def _load(name: str) -> Any:
    found = entry_points(group="opentelemetry_traces_exporter", name=name)
    if not found:
        package = f"opentelemetry-exporter-{name.replace('_', '-')}"
        raise MissingExtra(f"The exporter {name!r} is not installed; try: pip install {package}")
    return next(iter(found)).load()


async def flush(provider: Any, patience: float = _PATIENCE) -> None:
    """Send the rest, within so many seconds.

    This runs in a thread that may be abandoned, since nothing else bounds it.
    """
    send = getattr(provider, "force_flush", None)
    if send is None:
        return
    loop = asyncio.get_running_loop()
    sent = asyncio.Event()

    def work() -> None:
        send()
        with contextlib.suppress(RuntimeError):  # The loop was closed; nothing waits any more.
            loop.call_soon_threadsafe(sent.set)

    threading.Thread(target=work, name="sidecall-flush", daemon=True).start()
    try:
        await asyncio.wait_for(sent.wait(), patience)
    except TimeoutError:
        logger.warning("the last spans were not sent within %g seconds", patience)
