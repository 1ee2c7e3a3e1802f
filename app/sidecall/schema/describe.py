"""Describe in a few words what a JSON Schema allows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.core.tool import Schema

# What the names of formats mean, with an example that every one of our validators takes.
FORMATS: Mapping[str, str] = {
    "date": "a date as YYYY-MM-DD, such as 2026-03-14",
    "date-time": "a date and time as YYYY-MM-DDTHH:MM:SSZ, such as 2026-03-14T15:09:26Z",
    "time": "a time as HH:MM:SS, such as 15:09:26",
    "duration": "a duration as in ISO 8601, such as PT1H30M",
    "uuid": "a UUID, such as 123e4567-e89b-42d3-a456-426614174000",
    "email": "an e-mail address, such as ada@example.com",
    "uri": "a URL, such as https://example.com/page",
    "hostname": "a host name, such as www.example.com",
    "ipv4": "an IPv4 address, such as 192.0.2.1",
    "ipv6": "an IPv6 address, such as 2001:db8::1",
    "json-string": "JSON text",
    "base64": "base64, such as aGVsbG8=",
    "base64url": "base64url, such as aGVsbG8=",
}
# Made once: json.dumps makes an encoder at every call.
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
# Values and keys that are listed in a sentence.
MOST_LISTED = 20
_MOST_WORDS = 120
_NOUNS = {
    "string": ("character", "characters"),
    "array": ("item", "items"),
    "object": ("key", "keys"),
}


def describe(schema: Schema) -> str:
    """Describe in a few words what a schema allows: `integer, at least 1`, `one of "a", "b"`."""
    if "enum" in schema:
        return describe_choice(schema["enum"])
    if "const" in schema:
        return write_literal(schema["const"])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(describe(option) for option in options if isinstance(option, dict)))
    if "$ref" in schema:
        return "object"
    lone = schema.get("allOf", ())
    if len(lone) == 1 and isinstance(lone[0], dict) and "type" not in schema:
        return describe(lone[0])
    words = [_describe_type(schema), *_describe_bounds(schema)]
    if schema.get("examples"):
        words.append(f"such as {write_literal(schema['examples'][0])}")
    return ", ".join(words)


def describe_choice(values: Sequence[Any]) -> str:
    """List the values of a choice, the first of many."""
    if len(values) == 1:
        return write_literal(values[0])
    more = f", … ({len(values)} in all)" if len(values) > MOST_LISTED else ""
    return "one of " + ", ".join(write_literal(value) for value in values[:MOST_LISTED]) + more


def list_keys(schema: Schema) -> str:
    """List the keys of an object as `{hour, minute?}`, with the value where there is only one."""
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    names = [
        f"{name}{_write_only_value(value)}" + ("" if name in required else "?") for name, value in properties.items()
    ]
    more = ["…"] if len(names) > MOST_LISTED else []
    return "{" + ", ".join([*names[:MOST_LISTED], *more]) + "}"


def _write_only_value(schema: Any) -> str:
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    return f": {write_literal(values[0])}" if len(values) == 1 else ""


def _describe_type(schema: Schema) -> str:
    kind = schema.get("type", "any value")
    kinds = [it for it in kind if it != "null"] if isinstance(kind, list) else []
    if len(kinds) == 1:
        return f"{_describe_type({**schema, 'type': kinds[0]})} or null"
    text = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if kind == "array":
        return _describe_array(schema)
    if kind == "object" and schema.get("properties"):
        return f"object {list_keys(schema)}"
    form = schema.get("format")
    if form is None:
        return text
    return FORMATS.get(form, f"{text} ({form})") if kind == "string" else f"{text} ({form})"


def _describe_array(schema: Schema) -> str:
    unique = "array without repeated items" if schema.get("uniqueItems") else "array"
    if schema.get("prefixItems"):
        return f"{unique} of " + ", then ".join(describe(item) for item in schema["prefixItems"])
    items = schema.get("items")
    return f"{unique} of {describe(items)}" if isinstance(items, dict) and items else unique


_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "greater than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}
_COUNTS = {
    "minLength": ("at least", "string"),
    "maxLength": ("at most", "string"),
    "minItems": ("at least", "array"),
    "maxItems": ("at most", "array"),
    "minProperties": ("at least", "object"),
    "maxProperties": ("at most", "object"),
}


def _describe_bounds(schema: Schema) -> list[str]:
    said = [f"{phrase} {schema[key]}" for key, phrase in _BOUNDS.items() if key in schema]
    is_fixed = {key for key in schema if "prefixItems" in schema and key in ("minItems", "maxItems")}
    for key, (phrase, kind) in _COUNTS.items():
        if key in schema and key not in is_fixed and schema.get("format") != "uri":
            said.append(f"{phrase} {schema[key]} {_NOUNS[kind][schema[key] != 1]}")
    if "pattern" in schema:
        said.append(_describe_pattern(schema))
    return said


def _describe_pattern(schema: Schema) -> str:
    """Describe a pattern, in the words of its author where there are any."""
    words = str(schema.get("description", "")).partition("\n")[0]
    shown = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
    is_said = shown and not shown.endswith(":")  # Which announces what is not shown here.
    return f"matching {schema['pattern']}" + (f" ({shown.rstrip('.')})" if is_said else "")


def write_literal(value: Any) -> str:
    """Write a value as JSON."""
    return _encode(value)
