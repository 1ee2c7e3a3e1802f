"""Send spans with the SDK's own exporter: those that are written as they are, the others in its own form."""

import logging
from collections.abc import Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Tracer
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanContext, TraceState

from sidecall.features.telemetry.small_spans.call_provider import CallProvider
from sidecall.features.telemetry.small_spans.call_span import CallSpan, Origin, Template
from sidecall.features.telemetry.small_spans.otlp import write_batch
from sidecall.features.telemetry.spans import CountedBatches, SpanLosses
from sidecall.version import __version__

logger = logging.getLogger("sidecall")


class BatchExporter(SpanExporter):
    """Send batches of spans that are written, and of others."""

    def __init__(self, exporter: Any, origin: Origin) -> None:
        """Send with the SDK's OTLP exporter over HTTP, which handles retries, headers and certificates.

        Raises:
            AttributeError: It is another exporter.
        """
        self._exporter = exporter
        self._post = exporter._client.export
        self._origin = origin
        self._resource: Resource | None = None
        self._around: tuple[bytes, bytes] = b"", b""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch."""
        written = [span.written for span in spans if isinstance(span, CallSpan) and span.written is not None]
        others = [span for span in spans if not isinstance(span, CallSpan)]
        is_sent = not written or self._post(self.wrap(written)).success
        if others and self._exporter.export(others) is not SpanExportResult.SUCCESS:
            is_sent = False
        return SpanExportResult.SUCCESS if is_sent else SpanExportResult.FAILURE

    def wrap(self, written: Sequence[bytes]) -> bytes:
        """Make one request of spans that are written."""
        resource = self._origin.provider.resource
        if resource is not self._resource:  # After a fork, it is another one.
            self._around, self._resource = self._write_around(resource), resource
        return write_batch(*self._around, written)

    def _write_around(self, resource: Resource) -> tuple[bytes, bytes]:
        """Have the SDK serialize the resource and scope around the spans."""
        some = ReadableSpan("", SpanContext(1, 1, False), resource=resource, instrumentation_scope=self._origin.scope)
        around = encode_spans([some]).resource_spans[0]
        scope = around.scope_spans[0]
        del scope.spans[:]
        written = scope.SerializeToString()
        del around.scope_spans[:]
        return around.SerializeToString(), written

    def shutdown(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()


def make_call_provider(resource: Resource, exporter: Any, losses: SpanLosses | None = None) -> CallProvider | None:
    """Make a provider of small spans; None where SDK or environment do not allow them."""
    provider = CallProvider(resource)
    try:
        batches = BatchExporter(exporter, provider.origin)
    except AttributeError:
        return None
    is_on = isinstance(provider.get_tracer("sidecall", __version__), Tracer)
    if not is_on or not provider.limits_are_wide or not _writes_as_sdk(batches, provider):
        return None
    provider.take_batches(CountedBatches(batches, losses or SpanLosses()))
    return provider


def _writes_as_sdk(batches: BatchExporter, provider: CallProvider) -> bool:
    """Try a span with all that a written one may have: another release of the SDK may write more of it."""
    parent = SpanContext(1, 2, True, trace_state=TraceState([("a", "b")]))
    span = provider.begin_call(
        Template("tool", "Ö"), "call", "invocation", SpanContext(1, 3, False, None, parent.trace_state), parent
    )
    span.finish("tool_error")
    request = encode_spans([span])
    is_same: bool = type(request).FromString(batches.wrap([span.written or b""])) == request
    if not is_same:
        logger.info("the installed SDK writes spans in a form that is not known here, and so writes all of them")
    return is_same
