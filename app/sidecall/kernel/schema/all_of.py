"""Merge schemas that must all hold, for descriptions."""

from collections.abc import Callable, Mapping
from typing import Any

from sidecall.kernel.core.tool import Schema

# Of two bounds the one that leaves less counts.
_TIGHTER: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    "uniqueItems": lambda one, two: one or two,
    "required": lambda one, two: [*one, *(name for name in two if name not in one)],
    "properties": lambda one, two: {
        **one,
        **{name: join(one[name], schema) if name in one else schema for name, schema in two.items()},
    },
}


def join_all(schema: Schema) -> Schema:
    """Merge a schema with its `allOf`; of conflicting rules one is kept."""
    if "allOf" not in schema:
        return schema
    made = {key: value for key, value in schema.items() if key != "allOf"}
    for member in schema["allOf"]:
        made = join(made, member)
    return made


def join(one: Any, two: Any) -> Schema:
    """Merge two schemas that must both hold; of conflicting rules the first is kept."""
    first, second = _read(one), _read(two)
    made = dict(first)
    for key, value in second.items():
        made[key] = _TIGHTER[key](made[key], value) if key in made and key in _TIGHTER else made.get(key, value)
    if first.get("type") == "number" and second.get("type") == "integer":
        made["type"] = "integer"
    return made


def _read(schema: Any) -> Schema:
    """Convert boolean schemas to objects."""
    if isinstance(schema, dict):
        return join_all(schema)
    return {"not": {}} if schema is False else {}
