"""Check whether a value fits one JSON Schema, nested values excluded, by pydantic's JSON rules."""

import datetime
import ipaddress
import json
import math
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.errors.entries import list_options

# What may stand for true and false in a text.
TRUE = frozenset(("true", "yes", "on", "t", "y", "1"))
FALSE = frozenset(("false", "no", "off", "f", "n", "0"))
_MOST_DIGITS = 64


def has_fitting_type(value: Any, node: Schema) -> bool:
    """Return whether a value has a schema's type, or is a text that converts to it."""
    kinds = node.get("type")
    if kinds is None:
        return "properties" not in node or isinstance(value, dict)
    return any(_TYPES[kind](value) for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind in _TYPES)


def read_number(value: Any) -> float | None:
    """Return the number that a value is or a text represents."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and len(value) > _MOST_DIGITS:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _is_integer(value: Any) -> bool:
    number = read_number(value)
    return number is not None and number == math.floor(number)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value.lower() in TRUE | FALSE)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "integer": _is_integer,
    "number": lambda value: read_number(value) is not None,
    "boolean": _is_boolean,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def is_listed(value: Any, node: Schema) -> bool:
    """Return whether a value is among a schema's enumerated values, if there are any."""
    if "const" in node:
        return bool(value == node["const"])
    return "enum" not in node or value in node["enum"]


def keeps_bounds(value: Any, node: Schema) -> bool:
    """Return whether a value of a fitting type satisfies a schema's bounds and format."""
    number = read_number(value) if node.get("type") in ("integer", "number") else None
    if number is not None:
        return all(test(number, node[key]) for key, test in _NUMBERS.items() if key in node)
    if isinstance(value, str):
        return _keeps_length(len(value), node, "Length") and _has_form(value, node)
    if isinstance(value, list):
        return _keeps_length(len(value), node, "Items") and not (node.get("uniqueItems") and _has_repeated(value))
    return not isinstance(value, dict) or _keeps_length(len(value), node, "Properties")


def fits_outside(value: Any, schema: Any, root: Schema) -> bool:
    """Return whether a value fits a schema, ignoring nested values except for required names."""
    return any(
        has_fitting_type(value, it)
        and is_listed(value, it)
        and keeps_bounds(value, it)
        and not (isinstance(value, dict) and any(name not in value for name in it.get("required", ())))
        for it in list_options(schema, root)
    )


def has_type(value: Any, schema: Any, root: Schema) -> bool:
    """Return whether a non-null value has a type that a schema names, ignoring bounds."""
    return value is not None and any(_is_of(value, it, root) for it in list_options(schema, root))


def _is_of(value: Any, node: Schema, root: Schema) -> bool:
    if not node.keys() & _TYPED or not is_listed(value, node):
        return False
    if isinstance(value, str):
        is_text = node.get("type", "string") == "string" and _reads(value, node)
        return is_text or (_says(value) and has_fitting_type(value, node))
    if isinstance(value, dict):
        return has_fitting_type(value, node) and all(name in value for name in node.get("required", ()))
    items = node.get("items")
    if isinstance(value, list) and isinstance(items, dict) and not is_untyped(items, root):
        return has_fitting_type(value, node) and all(has_type(item, items, root) for item in value[:_MOST_ITEMS])
    return has_fitting_type(value, node)


def _says(text: str) -> bool:
    """Return whether a text clearly is a number or boolean."""
    return read_number(text) is not None or text.lower() in ("true", "false")


def is_untyped(schema: Any, root: Schema) -> bool:
    """Return whether a schema accepts values of any type."""
    return any(not it.keys() & _TYPED for it in list_options(schema, root))


def takes_inside(value: Any, schema: Any, root: Schema) -> bool:
    """Return whether a schema describes objects with free keys, and a value fits under one of them."""
    for node in list_options(schema, root):
        free = node.get("additionalProperties", "properties" not in node)
        if node.get("type") == "object" and (free is True or (free and fits_outside(value, free, root))):
            return True
    return False


_TYPED = frozenset(("type", "enum", "const", "properties", "format", "pattern"))
# Of a long list so many are looked at.
_MOST_ITEMS = 20

_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    "minimum": lambda number, bound: number >= bound,
    "maximum": lambda number, bound: number <= bound,
    "exclusiveMinimum": lambda number, bound: number > bound,
    "exclusiveMaximum": lambda number, bound: number < bound,
}


def _keeps_length(length: int, node: Schema, noun: str) -> bool:
    return bool(node.get(f"min{noun}", 0) <= length <= node.get(f"max{noun}", length))


def _has_repeated(items: list[Any]) -> bool:
    return len({json.dumps(item, sort_keys=True, default=str) for item in items}) < len(items)


def _has_form(text: str, node: Schema) -> bool:
    return _reads(text, node) and ("pattern" not in node or _matches(text, node["pattern"]))


def _reads(text: str, node: Schema) -> bool:
    """Return whether a text matches a schema's format."""
    read = _FORMS.get(str(node.get("format")))
    try:
        if read is not None:
            read(text)
    except ValueError:
        return False
    return True


def _matches(text: str, pattern: str) -> bool:
    # Not by `re`, which takes exponential time for some patterns that are harmless here.
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python(text)
    except SchemaError:
        return True


_FORMS: Mapping[str, Callable[[str], Any]] = {
    "date": datetime.date.fromisoformat,
    "date-time": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "uuid": uuid.UUID,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
}
