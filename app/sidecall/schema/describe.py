"""Describe in a few words what a JSON Schema allows."""

import json
from typing import Any

from sidecall.core.tool import Schema


def describe(schema: Schema) -> str:
    """Describe in a few words what a schema allows: `integer, at least 1`, `one of "a", "b"`."""
    if "enum" in schema:
        return "one of " + ", ".join(_write_literal(value) for value in schema["enum"])
    if "const" in schema:
        return _write_literal(schema["const"])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(describe(option) for option in options))
    if "$ref" in schema:
        return "object"
    words = [_describe_type(schema)]
    words += [f"{phrase} {schema[key]}" for key, phrase in _BOUNDS.items() if key in schema]
    return ", ".join(words)


_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "greater than",
    "exclusiveMaximum": "less than",
    "minLength": "min length",
    "maxLength": "max length",
    "minItems": "min items",
    "maxItems": "max items",
    "pattern": "matching",
}


def _describe_type(schema: Schema) -> str:
    kind = schema.get("type", "any value")
    text = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if kind == "array" and isinstance(schema.get("items"), dict):
        text = f"array of {describe(schema['items'])}"
    return f"{text} ({schema['format']})" if "format" in schema else text


def _write_literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
