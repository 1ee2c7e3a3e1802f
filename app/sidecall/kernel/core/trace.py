"""Trace headers for requests that a tool makes."""

from collections.abc import Callable, Mapping

_TRACED = ("traceparent", "tracestate")


def name_trace(name_own: Callable[[], Mapping[str, str]], headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that name the call's own span, or else those the call came with."""
    own = dict(name_own())
    return own or {name: value for name in _TRACED if (value := headers.get(name)) is not None}
