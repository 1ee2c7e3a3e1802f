"""Take JSON Schemas apart: walk them, strip titles, put references in place."""

import json
from collections.abc import Callable, Iterator
from typing import Any

Schema = dict[str, Any]

# Keywords whose value is a schema, a list of schemas, or a mapping of names to schemas (JSON Schema 2020-12).
_ONE = frozenset(
    "items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties".split()
)
_MANY = frozenset("anyOf oneOf allOf prefixItems".split())
_NAMED = frozenset("properties patternProperties $defs definitions dependentSchemas".split())


def map_children(schema: Schema, change: Callable[[Any], Any]) -> Schema:
    """Copy a schema with `change` applied to each schema directly inside it."""
    return {key: _changed(key, value, change) for key, value in schema.items()}


def _changed(key: str, value: Any, change: Callable[[Any], Any]) -> Any:
    if key in _ONE and isinstance(value, dict):
        return change(value)
    if key in _MANY and isinstance(value, list):
        return [change(item) if isinstance(item, dict) else item for item in value]
    if key in _NAMED and isinstance(value, dict):
        return {name: change(item) if isinstance(item, dict) else item for name, item in value.items()}
    return value


def walk(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield every schema inside this one, itself first, each with a path such as `filters[].name`."""
    yield path, schema
    for key, value in schema.items():
        for step, child in _children(key, value):
            yield from walk(child, (path + step).lstrip("."))


def _children(key: str, value: Any) -> Iterator[tuple[str, Schema]]:
    if key in _ONE and isinstance(value, dict):
        yield ("[]" if key == "items" else ".*" if key == "additionalProperties" else ""), value
    elif key in _MANY and isinstance(value, list):
        yield from (("[]" if key == "prefixItems" else "", item) for item in value if isinstance(item, dict))
    elif key in _NAMED and isinstance(value, dict):
        yield from ((f".{name}", item) for name, item in value.items() if isinstance(item, dict))


def without_titles(schema: Schema) -> Schema:
    """Drop every `title`, which pydantic adds and models do not need; a property of that name stays."""
    return map_children({key: value for key, value in schema.items() if key != "title"}, without_titles)


def inlined(schema: Schema) -> Schema:
    """Put the target of each `$ref` in its place, since several providers refuse references.

    What refers to itself cannot be inlined: such a reference stays, and its target stays in `$defs`. A schema that
    would grow out of all proportion stays as it is.
    """
    definitions: Schema = schema.get("$defs", {})
    body = {key: value for key, value in schema.items() if key != "$defs"}
    if _inlined_size(body, definitions, {}) > _MAX_SIZE:
        return schema
    kept: set[str] = set()
    result: Schema = _inline(body, definitions, kept)
    if not kept:
        return result
    cyclic = _closure(kept, definitions)
    return {**result, "$defs": {name: definitions[name] for name in definitions if name in cyclic}}


def resolved(node: Schema, root: Schema) -> Schema:
    """Follow a reference to a definition of the root schema; any other node is itself."""
    name = _target(node)
    found: Schema = root.get("$defs", {}).get(name, node)
    return found


# Schemas that models read are far smaller; ten definitions that use each other twice make a thousand.
_MAX_SIZE = 10_000


def _inlined_size(schema: Schema, definitions: Schema, known: dict[str, int]) -> int:
    """Count the schemas that inlining would make, each definition measured once."""
    size = 0
    for _, node in walk(schema):
        name = _target(node)
        if name is not None and name in definitions and name not in known:
            known[name] = 0  # What it finds of itself is not inlined.
            known[name] = _inlined_size(definitions[name], definitions, known)
        size += 1 + known.get(name or "", 0)
    return size


def _inline(node: Schema, definitions: Schema, kept: set[str]) -> Schema:
    name = _target(node)
    if name is None or name not in definitions:
        return map_children(node, lambda child: _inline(child, definitions, kept))
    if name in _closure_of_references(definitions[name], definitions):
        kept.add(name)
        return node
    siblings = {key: value for key, value in node.items() if key != "$ref"}
    return _inline({**definitions[name], **siblings}, definitions, kept)


def _target(node: Schema) -> str | None:
    reference = node.get("$ref")
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else None


def _references(schema: Schema) -> set[str]:
    return {name for _, node in walk(schema) if (name := _target(node)) is not None}


def _closure_of_references(schema: Schema, definitions: Schema) -> set[str]:
    return _closure(_references(schema), definitions)


def _closure(names: set[str], definitions: Schema) -> set[str]:
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _references(definitions.get(name, {})) - found
    return found


def describe(schema: Schema) -> str:
    """Say in a few words what a schema allows: `integer, at least 1`, `one of "a", "b"`."""
    if "enum" in schema:
        return "one of " + ", ".join(_literal(value) for value in schema["enum"])
    if "const" in schema:
        return _literal(schema["const"])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(describe(option) for option in options))
    if "$ref" in schema:
        return "object"
    words = [_type_words(schema)]
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


def _type_words(schema: Schema) -> str:
    kind = schema.get("type", "any value")
    text = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if kind == "array" and isinstance(schema.get("items"), dict):
        text = f"array of {describe(schema['items'])}"
    return f"{text} ({schema['format']})" if "format" in schema else text


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
