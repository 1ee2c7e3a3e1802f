"""The SDK's provider, which besides makes small spans of calls."""

from time import time_ns

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, SynchronousMultiSpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import DEFAULT_ON, Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags

from sidecall.core.tool import CompiledTool
from sidecall.telemetry.call_span import CallSpan, Origin, Template
from sidecall.version import __version__

_SAMPLED = TraceFlags.SAMPLED
# Not every release of the SDK knows it.
_RANDOM: int = getattr(TraceFlags, "RANDOM_TRACE_ID", 0)
_FLAGS = tuple(TraceFlags(value) for value in range(0x100))
# More than a span of a call ever has of its own.
_ATTRIBUTES = 16
_new = object.__new__


class CallProvider(TracerProvider):
    """Make spans of calls as its own tracer would: with the same ids, sampler, flags and parents."""

    def __init__(self, resource: Resource) -> None:
        """Send nothing until there is somewhere to send it to."""
        limits = SpanLimits()
        processor = SynchronousMultiSpanProcessor()  # type: ignore[no-untyped-call]
        # Not shut down at exit, which may take half a minute; what is left is sent when the server ends.
        super().__init__(resource=resource, shutdown_on_exit=False, active_span_processor=processor, span_limits=limits)
        self.origin = Origin(self, InstrumentationScope("sidecall", __version__, None, None), limits, processor)
        self._templates: dict[str, tuple[CompiledTool, Template]] = {}
        # Sampled as the parent is, and else always: not worth the objects in which a sampler says so.
        self._is_default = self.sampler is DEFAULT_ON
        # Traces that begin here have random ids, if the SDK says so of its own.
        self._random = _RANDOM if getattr(self.id_generator, "is_trace_id_random", bool)() else 0
        self._root_flags = _FLAGS[self._random | _SAMPLED]

    @property
    def limits_are_wide(self) -> bool:
        """Whether no limit reaches spans of calls."""
        limits = self.origin.limits
        most = limits.max_span_attributes
        return limits.max_span_attribute_length is None and (most is None or most >= _ATTRIBUTES)

    def take_batches(self, processor: SpanProcessor) -> None:
        """Give all spans to what sends them in batches; it takes small ones, too."""
        self.origin.batch = processor
        super().add_span_processor(processor)

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        """Give all spans to one more, which wants to see the SDK's."""
        self.origin.is_alone = False
        super().add_span_processor(span_processor)

    def start_call(
        self, tool: CompiledTool, call_id: str, invocation_id: str, context: Context, parent: SpanContext | None
    ) -> Span:
        """Start the span of a call; `parent` is the current one of the context, if that has any."""
        found = self._templates.get(tool.name)
        if found is None or found[0] is not tool:
            found = self._templates[tool.name] = tool, Template(tool.name, tool.description)
        ids = self.id_generator
        trace_id = ids.generate_trace_id() if parent is None else parent.trace_id
        span = _new(CallSpan)
        span.origin, span.template, span.call_id, span.invocation_id = self.origin, found[1], call_id, invocation_id
        span.began, span.parent = time_ns(), parent
        span.trace_id, span.span_id = trace_id.to_bytes(16, "big"), ids.generate_span_id()
        if self._is_default and parent is None:
            span.context = SpanContext(trace_id, span.span_id, False, self._root_flags)
            return span
        return span if self._sample(span, trace_id, context) else NonRecordingSpan(span.context)

    def _sample(self, span: CallSpan, trace_id: int, context: Context) -> bool:
        """Settle whether a span is kept, and give it its place in the trace."""
        parent = span.parent
        random = self._random if parent is None else parent.trace_flags & _RANDOM
        if self._is_default and parent is not None:
            flags = _FLAGS[parent.trace_flags & _SAMPLED | random]
            span.context = SpanContext(trace_id, span.span_id, False, flags, parent.trace_state)
            return bool(flags & _SAMPLED)
        wanted = span.template.describe(span.call_id, span.invocation_id)
        said = self.sampler.should_sample(context, trace_id, span.template.name, SpanKind.INTERNAL, wanted, ())
        flags = _FLAGS[random | (_SAMPLED if said.decision is Decision.RECORD_AND_SAMPLE else 0)]
        span.context = SpanContext(trace_id, span.span_id, False, flags, said.trace_state)
        if said.decision is not Decision.DROP and (said.attributes != wanted or not flags & _SAMPLED):
            span.complete(said.attributes)
        return said.decision is not Decision.DROP
