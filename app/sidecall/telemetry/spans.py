"""Spans of calls, named after OpenTelemetry's conventions for generative AI."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import propagate, trace
from opentelemetry.trace import Span, SpanKind, StatusCode, TracerProvider

from sidecall.core.context import cut_id
from sidecall.telemetry.current import ObservedCall
from sidecall.telemetry.lines import redact_arguments, redact_result
from sidecall.telemetry.redact import Redaction
from sidecall.telemetry.text import shorten
from sidecall.version import __version__

# The conventions are in development, and the package that names them calls its names for them deprecated.
_OPERATION = "gen_ai.operation.name"
_TOOL_NAME = "gen_ai.tool.name"
_TOOL_DESCRIPTION = "gen_ai.tool.description"
_TOOL_TYPE = "gen_ai.tool.type"
_CALL_ID = "gen_ai.tool.call.id"
_ARGUMENTS = "gen_ai.tool.call.arguments"
_RESULT = "gen_ai.tool.call.result"
_ERROR_TYPE = "error.type"
_INVOCATION_ID = "sidecall.invocation.id"

# Ends that are no failures: the call goes on when a person has decided.
_NO_ERRORS = frozenset(("success", "approval_required"))


class Spans:
    """Make one span of each call; spans that the tool makes itself become its children."""

    def __init__(
        self,
        provider: TracerProvider,
        redaction: Redaction | None = None,
        flush: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Take the provider of the spans, and a redaction if they are to tell arguments and results."""
        self._tracer = provider.get_tracer("sidecall", __version__)
        self._redaction = redaction
        self._flush = flush

    def begin(self, call: ObservedCall) -> None:
        """Begin a call's span, as a child of whatever its sender is doing."""
        invocation = call.invocation
        tool = invocation.tool
        attributes = {
            _OPERATION: "execute_tool",
            _TOOL_NAME: tool.name,
            _TOOL_DESCRIPTION: tool.description,
            _TOOL_TYPE: "function",
            _CALL_ID: cut_id(invocation.call.id),
            _INVOCATION_ID: invocation.id,
        }
        parent = contexts.get_current()
        if not trace.get_current_span(parent).get_span_context().is_valid:
            # Nothing around this application has read the headers.
            parent = propagate.extract(invocation.request.headers, parent)
        span = self._tracer.start_span(f"execute_tool {tool.name}", parent, SpanKind.INTERNAL, attributes)
        call.span = span
        call.span_token = contexts.attach(trace.set_span_in_context(span, parent))
        call.trace_id = trace.format_trace_id(span.get_span_context().trace_id)

    def end(self, call: ObservedCall, outcome: str) -> None:
        """End a call's span."""
        span: Span = call.span
        contexts.detach(call.span_token)
        if outcome not in _NO_ERRORS:
            span.set_attribute(_ERROR_TYPE, outcome)
            span.set_status(StatusCode.ERROR)
        if self._redaction is not None and span.is_recording():
            span.set_attribute(_ARGUMENTS, _write_json(redact_arguments(call.invocation, self._redaction)))
            span.set_attribute(_RESULT, _write_json(redact_result(call.invocation, self._redaction)))
        span.end()

    def headers(self) -> dict[str, str]:
        """Name the span that is current, for another process."""
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

    async def close(self) -> None:
        """Send what has not been sent yet."""
        if self._flush is not None:
            await self._flush()


def _write_json(value: Any) -> str:
    return shorten(json.dumps(value))
