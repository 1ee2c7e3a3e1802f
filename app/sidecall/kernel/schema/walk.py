"""Walk JSON Schemas: visit or change every subschema."""

from collections.abc import Callable, Iterator
from typing import Any

from sidecall.kernel.core.tool import Schema

# Keywords whose value is a schema, a list of schemas, or a mapping of names to schemas (JSON Schema 2020-12).
_ONE = frozenset(
    "items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties".split()
)
_MANY = frozenset("anyOf oneOf allOf prefixItems".split())
_NAMED = frozenset("properties patternProperties $defs definitions dependentSchemas".split())
_HOLDING = _ONE | _MANY | _NAMED


def map_children(schema: Schema, change: Callable[[Any], Any]) -> Schema:
    """Copy a schema with `change` applied to each direct subschema."""
    return {key: _change(key, value, change) if key in _HOLDING else value for key, value in schema.items()}


def _change(key: str, value: Any, change: Callable[[Any], Any]) -> Any:
    if key in _ONE and isinstance(value, dict):
        return change(value)
    if key in _MANY and isinstance(value, list):
        return [change(item) if isinstance(item, dict) else item for item in value]
    if key in _NAMED and isinstance(value, dict):
        return {name: change(item) if isinstance(item, dict) else item for name, item in value.items()}
    return value


def walk(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield every subschema, itself first, each with a path such as `filters[].name`."""
    yield path, schema
    for key, value in schema.items():
        for step, child in _list_children(key, value):
            yield from walk(child, (path + step).lstrip("."))


def list_schemas(schema: Schema) -> list[Schema]:
    """List every subschema, itself first; much faster than `walk`, which tracks paths."""
    found = [schema]
    for node in found:  # The list grows during the loop.
        for key in _HOLDING & node.keys():
            value = node[key]
            if key in _MANY:
                found += [item for item in value if isinstance(item, dict)] if isinstance(value, list) else ()
            elif not isinstance(value, dict):
                continue
            elif key in _ONE:
                found.append(value)
            else:
                found += [item for item in value.values() if isinstance(item, dict)]
    return found


def _list_children(key: str, value: Any) -> Iterator[tuple[str, Schema]]:
    if key in _ONE and isinstance(value, dict):
        yield ("[]" if key == "items" else ".*" if key == "additionalProperties" else ""), value
    elif key in _MANY and isinstance(value, list):
        yield from (("[]" if key == "prefixItems" else "", item) for item in value if isinstance(item, dict))
    elif key in _NAMED and isinstance(value, dict):
        yield from ((f".{name}", item) for name, item in value.items() if isinstance(item, dict))
