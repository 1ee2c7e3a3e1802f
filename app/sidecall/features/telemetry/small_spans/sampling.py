"""Decisions of the SDK's samplers, without their result objects."""

from dataclasses import dataclass

from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_OFF,
    DEFAULT_ON,
    ParentBasedTraceIdRatio,
    Sampler,
    TraceIdRatioBased,
)
from opentelemetry.trace import SpanContext, TraceFlags

_LOW = TraceIdRatioBased.TRACE_ID_LIMIT
_ALL = _LOW + 1
_SAMPLED = TraceFlags.SAMPLED


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
