"""The SDK's provider, which besides makes small spans of calls."""

from dataclasses import dataclass
from time import time_ns

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, SynchronousMultiSpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_OFF,
    DEFAULT_ON,
    Decision,
    ParentBasedTraceIdRatio,
    Sampler,
    TraceIdRatioBased,
)
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags, TraceState

from sidecall.features.telemetry.small_spans.call_span import CallSpan, Origin, Template
from sidecall.kernel.core.tool import CompiledTool
from sidecall.version import __version__

_LOW = TraceIdRatioBased.TRACE_ID_LIMIT
_ALL = _LOW + 1


@dataclass(frozen=True, slots=True)
class SamplingRule:
    """Sample traces whose id is below a bound, and children as their parents if configured."""

    bound: int
    follows_parents: bool

    def keeps(self, trace_id: int, parent: SpanContext | None) -> bool:
        """Return whether a span is kept."""
        if parent is not None and self.follows_parents:
            return bool(parent.trace_flags & _SAMPLED)
        return trace_id & _LOW < self.bound


def find_rule(sampler: Sampler) -> SamplingRule | None:
    """Return what a sampler goes by; None for one that has to be asked."""
    for known, bound, follows in (
        (DEFAULT_ON, _ALL, True),
        (DEFAULT_OFF, 0, True),
        (ALWAYS_ON, _ALL, False),
        (ALWAYS_OFF, 0, False),
    ):
        if sampler is known:
            return SamplingRule(bound, follows)
    # Custom parent-based samplers cannot be predicted.
    follows = type(sampler) is ParentBasedTraceIdRatio
    root = getattr(sampler, "_root", None) if follows else sampler
    return SamplingRule(root.bound, follows) if type(root) is TraceIdRatioBased else None


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
        # Not shut down at exit, which may take half a minute; the rest is sent when the server ends.
        super().__init__(resource=resource, shutdown_on_exit=False, active_span_processor=processor, span_limits=limits)
        self.origin = Origin(self, InstrumentationScope("sidecall", __version__, None, None), limits, processor)
        self._templates: dict[str, tuple[CompiledTool, Template]] = {}
        self._rule = find_rule(self.sampler)
        # Traces that begin here have random ids, if the SDK says so of its own.
        self._random = _RANDOM if getattr(self.id_generator, "is_trace_id_random", bool)() else 0

    @property
    def limits_are_wide(self) -> bool:
        """Whether no limit affects spans of calls."""
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
        trace_id = self.id_generator.generate_trace_id() if parent is None else parent.trace_id
        if self._rule is None:
            return self._ask(found[1], call_id, invocation_id, context, parent, trace_id)
        is_kept = self._rule.keeps(trace_id, parent)
        place = self._place(trace_id, parent, None if parent is None else parent.trace_state, is_kept=is_kept)
        return self.begin_call(found[1], call_id, invocation_id, place, parent) if is_kept else NonRecordingSpan(place)

    def _ask(
        self,
        template: Template,
        call_id: str,
        invocation_id: str,
        context: Context,
        parent: SpanContext | None,
        trace_id: int,
    ) -> Span:
        """Call an unknown sampler, which may add attributes to the span."""
        wanted = template.describe(call_id, invocation_id)
        said = self.sampler.should_sample(context, trace_id, template.name, SpanKind.INTERNAL, wanted, ())
        is_kept = said.decision is Decision.RECORD_AND_SAMPLE
        place = self._place(trace_id, parent, said.trace_state, is_kept=is_kept)
        if said.decision is Decision.DROP:
            return NonRecordingSpan(place)
        span = self.begin_call(template, call_id, invocation_id, place, parent)
        if said.attributes != wanted or not is_kept:
            span.complete(said.attributes)
        return span

    def _place(
        self, trace_id: int, parent: SpanContext | None, state: TraceState | None, *, is_kept: bool
    ) -> SpanContext:
        random = self._random if parent is None else parent.trace_flags & _RANDOM
        flags = _FLAGS[random | _SAMPLED if is_kept else random]
        return SpanContext(trace_id, self.id_generator.generate_span_id(), False, flags, state)

    def begin_call(
        self, template: Template, call_id: str, invocation_id: str, place: SpanContext, parent: SpanContext | None
    ) -> CallSpan:
        """Begin a span that is kept."""
        span = _new(CallSpan)
        span.origin, span.template, span.call_id, span.invocation_id = self.origin, template, call_id, invocation_id
        span.began, span.context, span.parent = time_ns(), place, parent
        trace_id, span.span_id, *_ = place
        span.trace_id = trace_id.to_bytes(16, "big")
        return span
