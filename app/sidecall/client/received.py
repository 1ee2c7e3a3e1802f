"""Check that an answer comes from a Sidecall server, not from another service at its address."""

from collections.abc import Callable, Mapping
from typing import Any

import httpx

from sidecall.client.failures import UnknownAnswer

_SHOWN = 200
_EVENTS = "text/event-stream"
_NAMED = frozenset(("type", "name", "title", "function", "functionDeclarations"))

Fits = Callable[[Any], bool]


def is_message(value: Any) -> bool:
    """Return whether a value is the answer to a call."""
    return isinstance(value, Mapping) and "content" in value and isinstance(value.get("tool_call_id"), str)


def is_state(value: Any) -> bool:
    """Return whether a value is the state of a durable call."""
    return isinstance(value, Mapping) and all(isinstance(value.get(key), str) for key in ("id", "status"))


def is_approval(value: Any) -> bool:
    """Return whether a value is an approval."""
    return is_state(value) and isinstance(value.get("tool_call"), Mapping)


def is_preview(value: Any) -> bool:
    """Return whether a value is the result of a dry run."""
    return isinstance(value, Mapping) and isinstance(value.get("would_run"), bool)


def is_tool(value: Any) -> bool:
    """Return whether a value is the description of a tool."""
    return isinstance(value, Mapping) and isinstance(value.get("name"), str)


def is_any_answer(value: Any) -> bool:
    """Return whether a value may be the answer to a call, in any provider's form."""
    return isinstance(value, Mapping) and not value.keys().isdisjoint(("type", "role", "functionResponse"))


def is_definition(form: str) -> Fits:
    """Return a check for definitions in a form; Gemini's may be any object."""
    if form == "gemini":
        return lambda value: isinstance(value, Mapping) and bool(value)
    return lambda value: isinstance(value, Mapping) and not _NAMED.isdisjoint(value)


def is_list_of(fits: Fits, count: int | None = None) -> Fits:
    """Return a check for a list of such values, of this length."""
    return lambda value: isinstance(value, list) and count in (None, len(value)) and all(map(fits, value))


def read_answer(response: httpx.Response, fits: Fits) -> Any:
    """Return the JSON of an answer.

    Raises:
        UnknownAnswer: It is none, or does not fit.
    """
    try:
        value = response.json()
    except ValueError:
        raise make_unknown(response) from None
    if not fits(value):
        raise make_unknown(response)
    return value


def make_unknown(response: httpx.Response) -> UnknownAnswer:
    """Build the error for an answer that no Sidecall server gives, with its beginning."""
    said = response.text.strip()[:_SHOWN] or "it is empty"
    return UnknownAnswer(f"the answer ({response.status_code}) is none of a Sidecall server: {said}")


def comes_as_events(response: httpx.Response) -> bool:
    """Return whether an answer is an event stream, or has no content type."""
    kind: str = response.headers.get("Content-Type", _EVENTS)
    return kind.lower().startswith(_EVENTS)
