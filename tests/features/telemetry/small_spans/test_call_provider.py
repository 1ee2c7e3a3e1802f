"""Which calls are followed, and as whose children, is as the SDK's own tracer has it."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_OFF,
    DEFAULT_ON,
    Decision,
    ParentBased,
    ParentBasedTraceIdRatio,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState

from sidecall.features.telemetry.small_spans.call_provider import CallProvider, find_rule
from sidecall.features.telemetry.small_spans.call_span import CallSpan
from tests.features.telemetry.small_spans.sent_spans import RESOURCE

STATE = TraceState([("a", "b")])
TOOL: Any = SimpleNamespace(name="search", description="Search.")


class Says(Sampler):
    """Decide as it was told, and add an attribute."""

    def __init__(self, decision: Decision) -> None:
        self._decision = decision

    def should_sample(self, *sent: Any, **_: Any) -> SamplingResult:
        """Say it."""
        return SamplingResult(self._decision, {**sent[4], "sampled.by": "us"}, STATE)

    def get_description(self) -> str:
        """Name it."""
        return "Says"


SAMPLERS = {
    "default": DEFAULT_ON,
    "default off": DEFAULT_OFF,
    "always": ALWAYS_ON,
    "never": ALWAYS_OFF,
    "the other way round": ParentBased(
        ALWAYS_OFF, ALWAYS_OFF, ALWAYS_ON, local_parent_sampled=ALWAYS_OFF, local_parent_not_sampled=ALWAYS_ON
    ),
    "all by their ids": TraceIdRatioBased(1.0),
    "none by their ids": TraceIdRatioBased(0.0),
    "parents, or all by their ids": ParentBasedTraceIdRatio(1.0),
    "parents, or none by their ids": ParentBasedTraceIdRatio(0.0),
    "drops": Says(Decision.DROP),
    "records": Says(Decision.RECORD_ONLY),
    "samples": Says(Decision.RECORD_AND_SAMPLE),
}
PARENTS = [
    None,
    *(
        SpanContext(7, 8, is_remote, TraceFlags(flags), STATE)
        for is_remote in (True, False)
        for flags in (0, 1, 2, 3, 0x81)
    ),
]


@pytest.fixture(params=list(SAMPLERS))
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[CallProvider]:
    """Make spans as each sampler wants it."""
    monkeypatch.setattr("opentelemetry.sdk.trace.sampling._get_from_env_or_default", lambda: SAMPLERS[request.param])
    made = CallProvider(RESOURCE)
    yield made
    made.shutdown()


@pytest.mark.parametrize("parent", PARENTS)
def test_a_span_is_what_the_sdk_would_have_made(provider: CallProvider, parent: SpanContext | None) -> None:
    """Kept or not, with its flags, its state, and what a sampler adds."""
    context = Context() if parent is None else trace.set_span_in_context(NonRecordingSpan(parent), Context())
    span = provider.start_call(TOOL, "call", "invocation", context, parent)
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.description": "Search.",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call",
        "sidecall.invocation.id": "invocation",
    }
    twin: Any = provider.get_tracer("sidecall").start_span("execute_tool search", context, attributes=attributes)
    found, wanted = span.get_span_context(), twin.get_span_context()

    assert (found.trace_id == 7, span.is_recording()) == (parent is not None, twin.is_recording())
    assert found.span_id != wanted.span_id
    assert (found.trace_flags, found.trace_state, found.is_remote) == (wanted.trace_flags, wanted.trace_state, False)
    assert isinstance(span, CallSpan) == twin.is_recording()
    if isinstance(span, CallSpan):
        assert (span.parent, dict(span.attributes or {})) == (twin.parent, dict(twin.attributes))


@pytest.mark.parametrize("ratio", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("kind", [TraceIdRatioBased, ParentBasedTraceIdRatio])
def test_ids_are_chosen_as_the_sdk_chooses_them(kind: Any, ratio: float) -> None:
    """Up to the last one."""
    sampler, bound = kind(ratio), int(ratio * 2**64)
    rule = find_rule(sampler)
    ids = [low + (high << 64) for low in (1, bound - 1, bound, bound + 1, 2**64 - 1) if low > 0 for high in (0, 7)]

    assert rule is not None
    assert [rule.keeps(trace_id, None) for trace_id in ids] == [
        sampler.should_sample(Context(), trace_id, "name").decision is Decision.RECORD_AND_SAMPLE for trace_id in ids
    ]
