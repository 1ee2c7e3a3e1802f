"""Describe validation errors of a body in terms of its JSON members, not of our classes."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.explain import explain

# Of a place: its names may be the client's own.
_LENGTH = 100
# More are said in one sentence: describing each of 49,000 members would take the event loop half a second.
_MOST_ERRORS = 100


def list_errors(error: ValidationError, body: Any) -> list[dict[str, Any]]:
    """List the errors of a body: place, rule, and what to send instead; more than a hundred are one."""
    if (summary := sum_up(error)) is not None:
        return [summary]
    return [
        {"loc": _find_place(item["loc"], item["type"], body), "type": item["type"], "msg": explain(item)}
        for item in error.errors(include_url=False)
    ]


def sum_up(error: ValidationError) -> dict[str, Any] | None:
    """Return what stands for more than a hundred errors; None where they are fewer."""
    count = error.error_count()
    if count <= _MOST_ERRORS:
        return None
    text = f"{count:,} members are unknown or wrong; send those that the contract names"
    return {"loc": [], "type": "too_many_errors", "msg": text}


def format_errors(errors: Sequence[dict[str, Any]]) -> str:
    """Format the errors in a line, without a full stop."""
    return "; ".join(f"`{_name(it['loc'])}`: {it['msg'].rstrip('.')}" for it in errors)


def _find_place(loc: Sequence[str | int], kind: str, body: Any) -> list[str | int]:
    """Remove from a location the parts that are not in the body, such as the union member that was tried."""
    place: list[str | int] = []
    node = body
    for step in loc:
        if step in (node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()):
            node = node[step]
        elif kind != "missing" or step is not loc[-1]:
            continue
        place.append(step)
    return place


def _name(place: Sequence[str | int]) -> str:
    return format_path(place)[:_LENGTH] if place else "body"
