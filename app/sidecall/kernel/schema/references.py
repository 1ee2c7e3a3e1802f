"""Resolve and inline the references of JSON Schemas."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, field

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import follow, split_reference


def inline_root(schema: Schema) -> Schema:
    """Inline a reference at the root, where every provider wants an object."""
    target = resolve(schema, schema)
    return schema if target is schema else _join(target, {key: schema[key] for key in schema if key != "$ref"})


def inline_references(schema: Schema, known: "Targets | None" = None) -> Schema:
    """Replace each `$ref` by its target, since several providers refuse references.

    Recursive references stay, with their targets among the definitions. A schema that would grow or nest too much is
    returned unchanged. Repeated parts may share one object. `known` holds resolved definitions that schemas share.
    """
    body = {key: value for key, value in schema.items() if key not in _HOLDERS}
    known = known or Targets(schema)
    if not known.find_all(body):
        return _drop_mappings(body)
    kept: set[str] = set()
    try:
        size = known.measure(body)
        if size > _MAX_SIZE:
            return schema
        result: Schema = _inline(body, known, kept)
    except RecursionError:
        return schema
    if size > _DEEPEST / 2 and _is_deep(result):
        return schema
    return {**result, **_keep_definitions(schema, known, kept)}


def resolve(node: Schema, root: Schema) -> Schema:
    """Follow references into the root schema to the end; other nodes are returned unchanged."""
    if "$ref" not in node:
        return node
    passed: set[str] = set()
    while (reference := _get_reference(node)) is not None and reference not in passed:
        passed.add(reference)
        found = follow(reference, root)
        node = found if isinstance(found, dict) else node
    return node


# Where schemas keep what they refer to.
_HOLDERS = ("$defs", "definitions")
# Schemas that models read are far smaller; ten definitions that use each other twice make a thousand.
_MAX_SIZE = 10_000
# Objects and lists inside each other, of which the validator takes few more; two of them for each schema.
_DEEPEST = 200
# Siblings of a reference or a single `allOf` that do not narrow it.
ANNOTATIONS = frozenset(
    "$anchor $comment $defs $schema contentEncoding contentMediaType contentSchema default definitions deprecated"
    " description examples readOnly title writeOnly".split()
)


# What only describes, and holds no schema.
_TEXTS = ANNOTATIONS - frozenset(_HOLDERS)


class Targets(Struct):
    """The targets of references, each looked up once; `root` holds them, and may grow."""

    root: Schema
    _found: dict[str, Schema | None] = field(default_factory=dict)
    _next: dict[str, set[str]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _loops: dict[str, bool] = field(default_factory=dict)
    _inlined: dict[str, tuple[Schema, set[str]]] = field(default_factory=dict)

    def get(self, reference: str) -> Schema | None:
        """Return the target of a reference; True and False are schemas too."""
        if reference not in self._found:
            found = follow(reference, self.root)
            if isinstance(found, bool):
                found = {} if found else {"not": {}}
            self._found[reference] = found if isinstance(found, dict) else None
        return self._found[reference]

    def find_all(self, schema: Schema) -> set[str]:
        """List the references in a schema."""
        return {reference for node in list_schemas(schema) if (reference := _get_reference(node)) is not None}

    def close_over(self, references: set[str]) -> set[str]:
        """Add the references in their targets, transitively."""
        found: set[str] = set()
        waiting = set(references)
        while waiting:
            reference = waiting.pop()
            found.add(reference)
            if reference not in self._next:
                self._next[reference] = self.find_all(self.get(reference) or {})
            waiting |= self._next[reference] - found
        return found

    def is_loop(self, reference: str) -> bool:
        """Return whether the target of a reference refers to itself."""
        if reference not in self._loops:
            self._loops[reference] = reference in self.close_over(self.find_all(self.get(reference) or {}))
        return self._loops[reference]

    def measure(self, schema: Schema) -> int:
        """Count the schemas that inlining would make, each target measured once."""
        size = 0
        for node in list_schemas(schema):
            reference = _get_reference(node)
            if reference is not None and reference not in self._sizes:
                self._sizes[reference] = 0  # What it finds of itself is not inlined.
                try:
                    self._sizes[reference] = self.measure(self.get(reference) or {})
                except RecursionError:
                    self._sizes.clear()  # None of those on the way was measured.
                    raise
            size += 1 + self._sizes.get(reference or "", 0)
        return size

    def inline(self, reference: str, kept: set[str]) -> Schema:
        """Return the target of a reference with its own references inlined; those that stay are added to `kept`."""
        if reference not in self._inlined:
            own: set[str] = set()
            self._inlined[reference] = _inline(self.get(reference) or {}, self, own), own
        made, own = self._inlined[reference]
        kept |= own
        return made


def _inline(node: Schema, known: Targets, kept: set[str]) -> Schema:
    reference = _get_reference(node)
    target = None if reference is None else known.get(reference)
    if reference is None or target is None:
        return map_children(_drop_mapping(node), lambda child: _inline(child, known, kept))
    if known.is_loop(reference):
        kept.add(reference)
        return map_children(node, lambda child: _inline(child, known, kept))
    beside = {key: value for key, value in node.items() if key != "$ref"}
    if not beside.keys() <= _TEXTS:
        return _inline(_join(target, beside), known, kept)
    return {**known.inline(reference, kept), **beside}


def _is_deep(schema: Schema) -> bool:
    """Return whether a schema is too deeply nested to be walked and compiled; each object is visited once."""
    level: list[Any] = [schema]
    for _ in range(_DEEPEST):
        inner = (it for node in level for it in (node.values() if isinstance(node, dict) else node))
        level = list({id(it): it for it in inner if isinstance(it, (dict, list))}.values())
    return bool(level)


def _drop_mappings(node: Schema) -> Schema:
    return map_children(_drop_mapping(node), _drop_mappings)


def _drop_mapping(node: Schema) -> Schema:
    """Remove a discriminator's mapping, once its targets are inlined."""
    tag = node.get("discriminator")
    if not isinstance(tag, dict):
        return node
    return {**node, "discriminator": {key: value for key, value in tag.items() if key != "mapping"}}


def _join(target: Schema, beside: Schema) -> Schema:
    """Merge a target with its sibling keywords: annotations override, rules are combined."""
    clashing = [key for key in target.keys() & beside.keys() - ANNOTATIONS if target[key] != beside[key]]
    if clashing:
        return {**beside, "allOf": [target, *beside.get("allOf", [])]}
    return {**target, **beside}


def _get_reference(node: Schema) -> str | None:
    reference = node.get("$ref")
    return reference if isinstance(reference, str) else None


def _keep_definitions(schema: Schema, known: Targets, kept: set[str]) -> Schema:
    """Select the definitions that remaining references need."""
    reached = known.close_over({it for it in kept if _find_place(it) is not None})
    places = {_find_place(reference) for reference in reached}
    chosen = {
        holder: {name: value for name, value in schema.get(holder, {}).items() if (holder, name) in places}
        for holder in _HOLDERS
    }
    return {holder: definitions for holder, definitions in chosen.items() if definitions}


def _find_place(reference: str) -> tuple[str, str] | None:
    """Return the name of the definition that a reference points into, or None."""
    steps = split_reference(reference) or []
    return (steps[0], steps[1]) if len(steps) > 1 and steps[0] in _HOLDERS else None


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
