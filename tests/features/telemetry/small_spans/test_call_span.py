"""A span of a call is the SDK's to all that look at it, and to the collector the same to the last field."""

import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from sidecall.features.telemetry.small_spans.call_provider import CallProvider
from sidecall.features.telemetry.small_spans.call_span import CallSpan, Template, end_span, name_conversation
from sidecall.version import __version__
from tests.features.telemetry.small_spans.sent_spans import RESOURCE, Wire, provide

TEXTS = ("", "a", "Größe 🎈", "x" * 126, "x" * 127, "x" * 128, "y" * 20_000, "\x00\r\n\u2028", "sidecall.other")
VALUES = (
    True,
    False,
    0,
    -1,
    2**63 - 1,
    1.5,
    float("inf"),
    b"\xff\x00",
    ("a", "b"),
    (1, 2),
    (True,),
    {"a": [1, "b"]},
    (),
)
STATUSES = (StatusCode.OK, StatusCode.ERROR, StatusCode.UNSET, Status(StatusCode.ERROR, "because"))
PARENTS = (
    None,
    SpanContext(7, 8, True, TraceFlags(3), TraceState([("a", "b"), ("c", "d")])),
    SpanContext(2**128 - 1, 2**64 - 1, False, TraceFlags(1)),
)
TOOLS = tuple(SimpleNamespace(name=name, description=text) for name, text in zip("abcdefghi", TEXTS, strict=True))


class Same(IdGenerator):
    """Give the ids that another span has."""

    def __init__(self) -> None:
        self.wanted = SpanContext(1, 1, False)

    def generate_span_id(self) -> int:
        """Return that of the span."""
        return self.wanted.span_id

    def generate_trace_id(self) -> int:
        """Return that of the trace."""
        return self.wanted.trace_id

    def is_trace_id_random(self) -> bool:
        """Return what the SDK says of its own."""
        return True


def _start(
    provider: CallProvider, parent: SpanContext | None = None, tool: Any = TOOLS[1], ids: Any = ("c", "i")
) -> Span:
    context = Context() if parent is None else trace.set_span_in_context(trace.NonRecordingSpan(parent), Context())
    return provider.start_call(tool, *ids, context, parent)


def _start_twin(same: Same, provider: TracerProvider, span: CallSpan) -> Any:
    """Have the SDK start the same span."""
    same.wanted = span.context
    parent = None if span.parent is None else trace.NonRecordingSpan(span.parent)
    context = Context() if parent is None else trace.set_span_in_context(parent, Context())
    template: Template = span.template
    return provider.get_tracer("sidecall", __version__).start_span(
        template.name,
        context,
        SpanKind.INTERNAL,
        template.describe(span.call_id, span.invocation_id),
        start_time=span.began,
    )


def _change(chance: random.Random, span: Any) -> None:
    """Do to a span what tools do, once."""
    attributes = {chance.choice(TEXTS[1:]): chance.choice((*VALUES, *TEXTS)) for _ in range(chance.randrange(3))}
    match chance.randrange(7):
        case 0:
            span.set_attribute(chance.choice(TEXTS[1:]), chance.choice((*VALUES, *TEXTS)))
        case 1:
            span.set_attributes(attributes)
        case 2:
            span.add_event(chance.choice(TEXTS), attributes, chance.randrange(2**63))
        case 3:
            span.add_link(SpanContext(chance.randrange(1, 2**128), 5, chance.random() < 0.5), attributes)
        case 4:
            span.update_name(chance.choice(TEXTS))
        case 5:
            span.set_status(chance.choice(STATUSES))
        case 6:
            span.record_exception(ValueError(chance.choice(TEXTS)), attributes, chance.randrange(2**63))


def _twins(provider: CallProvider, kept: InMemorySpanExporter, count: int) -> Iterator[None]:
    """Make so many spans at random, each twice."""
    same = Same()
    sdk = TracerProvider(resource=RESOURCE, shutdown_on_exit=False, id_generator=same)
    sdk.add_span_processor(SimpleSpanProcessor(kept))
    chance = random.Random(4711)
    for number in range(count):
        ids = chance.choice(TEXTS), chance.choice(TEXTS)
        span = _start(provider, chance.choice(PARENTS), chance.choice(TOOLS), ids)
        assert isinstance(span, CallSpan)
        twin = _start_twin(same, sdk, span)
        if number % 3 == 0:
            name_conversation(span, chance.choice(TEXTS))
            name_conversation(twin, span.conversation_id or "")
        for _ in range(chance.choice((0, 0, 0, 1, 3))):
            seed = chance.random()
            for each in (span, twin):
                _change(random.Random(seed), each)
        failure = chance.choice((None, None, "tool_error", "Ö"))
        if not span.finish(failure):
            end_span(span, failure)
        end_span(twin, failure, span.ended or span.end_time)
        if number % 500 == 499:
            yield


def test_ten_thousand_spans_are_those_that_the_sdk_would_have_sent() -> None:
    """With everything that tools may do to them, and nothing; resource and scope are the same, too."""
    wire, kept = Wire(), InMemorySpanExporter()
    provider = provide(wire)

    compared = 0
    for _ in _twins(provider, kept, 10_000):
        provider.force_flush()
        wanted, sent = encode_spans(kept.get_finished_spans()), wire.spans
        around = {
            (
                resource.resource.SerializeToString(deterministic=True),
                resource.schema_url,
                *map(_scope, resource.scope_spans),
            )
            for resource in (*wanted.resource_spans, *wire.request_sent.resource_spans)
        }
        twins = wanted.resource_spans[0].scope_spans[0].spans
        assert len(around) == 1
        assert {span.span_id: span for span in sent} == {span.span_id: span for span in twins}
        compared += len(sent)
        wire.sent.clear()
        kept.clear()

    assert compared == 10_000
    provider.shutdown()


def _scope(scope: Any) -> tuple[bytes, str]:
    return scope.scope.SerializeToString(deterministic=True), scope.schema_url


@pytest.fixture
def wire() -> Wire:
    """Take what is sent."""
    return Wire()


@pytest.fixture
def provider(wire: Wire) -> Iterator[CallProvider]:
    """Make small spans, until the end of the test."""
    made = provide(wire)
    yield made
    made.shutdown()


def test_a_tool_finds_a_span_of_the_sdk(provider: CallProvider) -> None:
    """As far as it looks, and before it has."""
    span = _start(provider, PARENTS[1], TOOLS[2], ("call", "invocation"))

    assert isinstance(span, CallSpan)
    assert (span.is_recording(), span.get_span_context(), span.context.trace_state) == (
        True,
        span.context,
        TraceState([("a", "b"), ("c", "d")]),
    )
    assert not span.is_complete
    assert (span.name, span.kind, span.parent, span.end_time) == (
        f"execute_tool {TOOLS[2].name}",
        SpanKind.INTERNAL,
        PARENTS[1],
        None,
    )
    assert span.is_complete
    assert dict(span.attributes or {})["gen_ai.tool.call.id"] == "call"
    assert (span.resource, span.instrumentation_scope) == (RESOURCE, provider.origin.scope)
    assert not hasattr(span, "nothing_of_the_kind")


def test_what_a_tool_says_of_its_span_is_sent(provider: CallProvider, wire: Wire) -> None:
    """Once."""
    span = _start(provider)
    span.set_attribute("seat", "12A")
    span.update_name("booking")
    with trace.use_span(span, end_on_exit=True):
        assert trace.get_current_span() is span

    provider.force_flush()

    assert [(sent.name, sent.attributes[-1].key) for sent in wire.spans] == [("booking", "seat")]


def test_what_comes_after_the_end_comes_too_late(provider: CallProvider, wire: Wire, caplog: Any) -> None:
    """Which the SDK says; what was sent is what there was, and can still be read."""
    span = _start(provider)
    assert isinstance(span, CallSpan)
    assert span.finish("timeout")
    assert not span.is_recording()
    span.set_attribute("late", "yes")
    span.end()
    provider.force_flush()

    assert caplog.messages == ["Setting attribute on ended span.", "Calling end() on an ended span."]
    assert (len(wire.spans), dict(span.attributes or {})["error.type"]) == (1, "timeout")
    assert (span.status.status_code, span.end_time, span.is_recording()) == (StatusCode.ERROR, span.ended, False)


def test_a_text_that_cannot_be_written_is_left_to_the_sdk(provider: CallProvider, wire: Wire, caplog: Any) -> None:
    """It leaves the attribute out."""
    span = _start(provider, ids=("\ud800", "invocation"))
    assert isinstance(span, CallSpan)
    assert not span.finish(None)
    end_span(span, None)
    provider.force_flush()

    assert "gen_ai.tool.call.id" not in {attribute.key for attribute in wire.spans[0].attributes}
    assert caplog.messages


class Seen(SpanProcessor):
    """Note what it is shown."""

    def __init__(self) -> None:
        self.ended: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Note a span."""
        self.ended.append(span)


def test_whoever_else_wants_spans_is_given_the_sdks(provider: CallProvider, wire: Wire) -> None:
    """Also of those that have begun before."""
    span, seen = _start(provider), Seen()
    assert isinstance(span, CallSpan)
    provider.add_span_processor(seen)
    assert not span.finish(None)
    end_span(span, None)
    provider.force_flush()

    assert [type(shown) for shown in seen.ended] == [ReadableSpan]
    assert len(wire.spans) == 1


def test_another_tool_of_the_same_name_describes_itself(provider: CallProvider, wire: Wire) -> None:
    """After the tools were loaded again."""
    for text in ("Old.", "New."):
        span = _start(provider, tool=SimpleNamespace(name="search", description=text))
        assert isinstance(span, CallSpan)
        span.finish(None)
    provider.force_flush()

    assert [span.attributes[2].value.string_value for span in wire.spans] == ["Old.", "New."]
