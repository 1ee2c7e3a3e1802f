"""Spans of calls, named after OpenTelemetry's conventions for generative AI."""

import json
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Token
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Span, SpanContext, SpanKind, TracerProvider

from sidecall.features.telemetry.log_lines import redact_arguments, redact_result
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.small_spans.call_provider import CallProvider
from sidecall.features.telemetry.small_spans.call_span import CallSpan, Template, end_span, name_conversation
from sidecall.features.telemetry.small_spans.propagation import TraceHeaders
from sidecall.features.telemetry.standard_variables import read_batching
from sidecall.kernel.core.context import cut_id
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.log_text import shorten
from sidecall.kernel.core.origin import begin_trace
from sidecall.kernel.core.tool import CompiledTool
from sidecall.version import __version__

logger = logging.getLogger("sidecall")


class SpanLosses:
    """Count spans that are lost; `count` is how many have been."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self._lock = threading.Lock()
        # How many there were before they began, None while nothing is lost; and when a batch was taken last.
        self._before: int | None = None
        self._seen = 0

    def lose(self, number: int) -> None:
        """Count spans that are lost."""
        with self._lock:
            is_new = self._before is None
            if self._before is None:
                self._before = self.count
            self.count += number
        if is_new:
            logger.warning(
                "spans are lost, since their collector refuses them, does not answer or is too slow: "
                "sidecall_spans_dropped_total counts them"
            )

    def take(self) -> None:
        """Note that a batch was taken; if nothing was lost since the one before, all is well again."""
        with self._lock:
            is_over = self._before is not None and self.count == self._seen
            lost = self.count - (self._before or 0)
            self._seen = self.count
            if is_over:
                self._before = None
        if is_over:
            logger.warning("spans are taken again, %d were lost", lost)


class CountedBatches(BatchSpanProcessor):
    """Send spans in batches as the SDK does, and count those that are lost on the way."""

    def __init__(self, exporter: SpanExporter, losses: SpanLosses) -> None:
        """Send with an exporter, in batches as the environment says.

        Raises:
            InvalidVariable: It says nothing that could be done.
        """
        super().__init__(_CountedExporter(exporter, losses), **read_batching())
        self._losses = losses
        # Its own in the releases that are tried; with another one only what the collector does not take is counted.
        self._queue: deque[ReadableSpan] = getattr(getattr(self, "_batch_processor", None), "_queue", deque())

    def on_end(self, span: ReadableSpan) -> None:
        """Take a span; one that waits is lost for it where there is no room for both."""
        if len(self._queue) == self._queue.maxlen:
            self._losses.lose(1)
        super().on_end(span)


class _CountedExporter(SpanExporter):
    def __init__(self, exporter: SpanExporter, losses: SpanLosses) -> None:
        self._exporter = exporter
        self._losses = losses

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
        finally:
            if result is SpanExportResult.SUCCESS:
                self._losses.take()
            else:
                self._losses.lose(len(spans))
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


_ARGUMENTS = "gen_ai.tool.call.arguments"

_RESULT = "gen_ai.tool.call.result"

# A span, and by what it is taken from where it is current.
_Begun = tuple[Span, Token[Context]]

# Errors that are no failures: the call continues after a person's decision.
_NO_ERRORS = frozenset(("success", "approval_required"))


class Spans:
    """Make one span for each call; spans of the tool become its children."""

    def __init__(
        self,
        provider: TracerProvider,
        redaction: Redaction | None = None,
        flush: Callable[[], Awaitable[None]] | None = None,
        losses: SpanLosses | None = None,
    ) -> None:
        """Take the provider of the spans, and a redaction if they should have arguments and results."""
        self._losses = losses
        self._tracer = provider.get_tracer("sidecall", __version__)
        self._start = provider.start_call if isinstance(provider, CallProvider) else self._start_by_sdk
        self._headers = TraceHeaders()
        self._redaction = redaction
        self._flush = flush

    def begin(self, invocation: Invocation) -> _Begun:
        """Start a call's span, as a child of the sender's span."""
        context = contexts.get_current()
        parent = _find_parent(context) if context else None
        if parent is None:
            # Nothing around this application has read the headers.
            arrived = self._headers.extract(invocation.request.sender.headers, context)
            if arrived is not context:
                context, parent = arrived, _find_parent(arrived)
        span = self._start(invocation.tool, cut_id(invocation.request.call.id), invocation.id, context, parent)
        if isinstance(span, CallSpan):
            trace_id = span.trace_id.hex()
        else:
            trace_id = trace.format_trace_id(span.get_span_context().trace_id)
        conversation_id = begin_trace(invocation, trace_id).conversation_id
        if conversation_id is not None:
            name_conversation(span, conversation_id)
        return span, contexts.attach(trace.set_span_in_context(span, context))

    def _start_by_sdk(
        self, tool: CompiledTool, call_id: str, invocation_id: str, context: Context, _parent: SpanContext | None
    ) -> Span:
        template = Template(tool.name, tool.description)
        attributes = template.describe(call_id, invocation_id)
        return self._tracer.start_span(template.name, context, SpanKind.INTERNAL, attributes)

    def end(self, invocation: Invocation, begun: _Begun, outcome: str) -> None:
        """End a call's span."""
        span, token = begun
        contexts.detach(token)
        failure = None if outcome in _NO_ERRORS else outcome
        if self._redaction is None and isinstance(span, CallSpan) and span.finish(failure):
            return
        if self._redaction is not None and span.is_recording():
            span.set_attribute(_ARGUMENTS, _write_json(redact_arguments(invocation, self._redaction)))
            span.set_attribute(_RESULT, _write_json(redact_result(invocation, self._redaction)))
        end_span(span, failure)

    def headers(self) -> dict[str, str]:
        """Return headers that name the current span, for another process."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        return carrier

    @contextmanager
    def within(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Make the spans of the body children of the one that another process has named."""
        token = contexts.attach(propagate.extract(headers))
        try:
            yield
        finally:
            contexts.detach(token)

    @property
    def dropped(self) -> int | None:
        """How many spans were lost; None where this process sends none."""
        return None if self._losses is None else self._losses.count

    async def close(self) -> None:
        """Send the remaining spans."""
        if self._flush is not None:
            await self._flush()


def _find_parent(context: Context) -> SpanContext | None:
    found = trace.get_current_span(context).get_span_context()
    return found if found.is_valid else None


def _write_json(value: Any) -> str:
    return shorten(json.dumps(value))
