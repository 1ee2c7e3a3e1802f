"""The trace context of a request, parsed only if its headers are there."""

from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry import propagate
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import Getter, TextMapPropagator


class TraceHeaders:
    """Parse headers with the configured propagators, if a request has one of them.

    Each propagator is asked once without headers; the names that it looks for are those it depends on. Without any of
    them its next result would be the same.
    """

    def __init__(self) -> None:
        self._propagator: TextMapPropagator | None = None
        # None where it does not go by names alone.
        self._names: frozenset[str | bytes] | None = None

    def extract(self, headers: Mapping[str, str], context: Context) -> Context:
        """Return the context of a request within the one where it arrived."""
        propagator = propagate.get_global_textmap()
        if propagator is not self._propagator:
            self._propagator, self._names = propagator, _find_names(propagator)
        if self._names is not None and self._names.isdisjoint(_names_of(headers)):
            return context
        return propagator.extract(headers, context)


def _names_of(headers: Mapping[str, str]) -> Iterable[str | bytes]:
    """Return the names of headers; those of a live request as they came, which spares decoding all of them."""
    raw: Iterable[tuple[bytes, bytes]] | None = getattr(headers, "raw", None)
    return headers if raw is None else [name for name, _ in raw]


class _Asking(Getter[Mapping[str, str]]):
    """Find nothing, and record the names that were looked up."""

    def __init__(self) -> None:
        self.names: set[str | bytes] = set()
        self.wants_all = False

    def get(self, _carrier: Any, key: str) -> None:
        """Find no header of this name."""
        self.names |= {key, key.lower(), key.lower().encode()}

    def keys(self, _carrier: Any) -> list[str]:
        """Name no headers."""
        self.wants_all = True
        return []


def _find_names(propagator: TextMapPropagator) -> frozenset[str | bytes] | None:
    asking, nothing = _Asking(), Context()
    changes = propagator.extract({}, nothing, asking) != nothing
    return None if changes or asking.wants_all else frozenset(asking.names)
