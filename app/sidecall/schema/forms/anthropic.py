"""Write a strict schema in the subset of JSON Schema that Anthropic's strict tools have."""

import json
from collections.abc import Iterator

from sidecall.core.tool import Schema
from sidecall.schema.walk import map_children

# What it refuses, as the `transform_schema` of its own library has it.
_REFUSED = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern maxItems".split()
)


def limit_to_anthropic(schema: Schema) -> Schema:
    """Move the bounds of values into the description, where the model reads them; the server still holds them."""
    node = map_children(schema, limit_to_anthropic)
    moved = dict(_find_refused(node))
    if not moved:
        return node
    kept = {key: value for key, value in node.items() if key not in moved}
    bounds = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in moved.items())
    text = node.get("description")
    return {**kept, "description": f"{text}\n\n{{{bounds}}}" if text else f"{{{bounds}}}"}


def _find_refused(node: Schema) -> Iterator[tuple[str, object]]:
    for key, value in node.items():
        if key in _REFUSED or (key == "minItems" and value not in (0, 1)):
            yield key, value
