"""Headers are read where they say anything of a trace, no matter which they are."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from opentelemetry import propagate, trace
from opentelemetry.baggage import get_all
from opentelemetry.context import Context, get_value, set_value
from opentelemetry.propagators.textmap import TextMapPropagator
from starlette.datastructures import Headers

from sidecall.features.telemetry.small_spans.propagation import TraceHeaders

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Named(TextMapPropagator):
    """Go by a header of its own, whose name has capitals."""

    def __init__(self) -> None:
        self.asked = 0

    def extract(self, carrier: Any, context: Any = None, getter: Any = None) -> Context:
        """Take what it says."""
        self.asked += 1
        found = carrier.get("X-Mine") if getter is None else getter.get(carrier, "X-Mine")
        return context if not found else set_value("mine", found, context)

    def inject(self, *_: Any, **__: Any) -> None:
        """Say nothing."""

    @property
    def fields(self) -> set[str]:
        """Name none of what is read."""
        return set()


class All(Named):
    """Look at all headers."""

    def extract(self, carrier: Any, context: Any = None, getter: Any = None) -> Context:
        """Take what begins as its own do."""
        self.asked += 1
        names = list(carrier) if getter is None else getter.keys(carrier)
        return set_value("mine", sorted(names), context) if names else context


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Put the propagator of this process back."""
    before = propagate.get_global_textmap()
    yield
    propagate.set_global_textmap(before)


def _both(headers: Mapping[str, str]) -> list[Mapping[str, str]]:
    live = Headers(raw=[(name.lower().encode(), value.encode()) for name, value in headers.items()])
    return [headers, live]


def test_a_request_without_such_headers_changes_nothing() -> None:
    """Not even the context."""
    context = Context()

    for headers in _both({"host": "x", "content-type": "application/json"}):
        assert TraceHeaders().extract(headers, context) is context


def test_those_that_ship_are_read() -> None:
    """Each by itself."""
    for headers in _both({"host": "x", "traceparent": TRACEPARENT, "tracestate": "a=b"}):
        found = trace.get_current_span(TraceHeaders().extract(headers, Context())).get_span_context()
        assert (found.is_remote, found.trace_state.to_header()) == (True, "a=b")
    for headers in _both({"baggage": "tenant=ada"}):
        assert get_all(TraceHeaders().extract(headers, Context())) == {"tenant": "ada"}


def test_whatever_the_configured_ones_go_by_is_read() -> None:
    """Also where they are set later; they are asked for no request without it."""
    headers, named = TraceHeaders(), Named()
    headers.extract({}, Context())
    propagate.set_global_textmap(named)

    for sent in _both({"X-Mine": "7", "host": "x"}):
        assert get_value("mine", headers.extract(sent, Context())) == "7"
    for sent in _both({"host": "x", "traceparent": TRACEPARENT}):
        assert headers.extract(sent, Context()) == Context()
    assert named.asked == 3


def test_one_that_looks_at_all_headers_is_shown_all() -> None:
    """It goes by no names."""
    propagate.set_global_textmap(All())

    assert get_value("mine", TraceHeaders().extract({"b": "1", "a": "2"}, Context())) == ["a", "b"]
