"""Follow the references of JSON Schemas, and put their targets in place."""

from sidecall.core.pointer import follow, split_reference
from sidecall.core.tool import Schema
from sidecall.schema.walk import map_children, walk


def inline_root(schema: Schema) -> Schema:
    """Put the target of a reference at the root in its place, where every provider wants an object."""
    target = resolve(schema, schema)
    return schema if target is schema else _join(target, {key: schema[key] for key in schema if key != "$ref"})


def inline_references(schema: Schema) -> Schema:
    """Put the target of each `$ref` in its place, since several providers refuse references.

    What refers to itself cannot be inlined: such a reference stays, and its target stays among the definitions. A
    schema that would grow out of all proportion stays as it is.
    """
    body = {key: value for key, value in schema.items() if key not in _HOLDERS}
    if _measure_inlined(body, schema, {}) > _MAX_SIZE:
        return schema
    kept: set[str] = set()
    result: Schema = _inline(body, schema, kept)
    return {**result, **_keep_definitions(schema, kept)}


def resolve(node: Schema, root: Schema) -> Schema:
    """Follow a reference into the root schema to its end; any other node is itself."""
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
# What may stand beside a reference or a lone `allOf` without narrowing it.
ANNOTATIONS = frozenset(
    "$anchor $comment $defs $schema contentEncoding contentMediaType contentSchema default definitions deprecated"
    " description examples readOnly title writeOnly".split()
)


def _measure_inlined(schema: Schema, root: Schema, known: dict[str, int]) -> int:
    """Count the schemas that inlining would make, each target measured once."""
    size = 0
    for _, node in walk(schema):
        reference = _get_reference(node)
        if reference is not None and reference not in known:
            known[reference] = 0  # What it finds of itself is not inlined.
            known[reference] = _measure_inlined(_find_target(reference, root) or {}, root, known)
        size += 1 + known.get(reference or "", 0)
    return size


def _inline(node: Schema, root: Schema, kept: set[str]) -> Schema:
    reference = _get_reference(node)
    target = None if reference is None else _find_target(reference, root)
    if reference is None or target is None:
        return map_children(_drop_mapping(node), lambda child: _inline(child, root, kept))
    if reference in _close_over(_find_references(target), root):
        kept.add(reference)
        return node
    beside = {key: value for key, value in node.items() if key != "$ref"}
    return _inline(_join(target, beside), root, kept)


def _drop_mapping(node: Schema) -> Schema:
    """Leave out which reference a tag means, once the targets are in place."""
    tag = node.get("discriminator")
    if not isinstance(tag, dict):
        return node
    return {**node, "discriminator": {key: value for key, value in tag.items() if key != "mapping"}}


def _join(target: Schema, beside: Schema) -> Schema:
    """Let what stands beside a reference win where it only describes; where both set rules, both hold."""
    clashing = [key for key in target.keys() & beside.keys() - ANNOTATIONS if target[key] != beside[key]]
    if clashing:
        return {**beside, "allOf": [target, *beside.get("allOf", [])]}
    return {**target, **beside}


def _get_reference(node: Schema) -> str | None:
    reference = node.get("$ref")
    return reference if isinstance(reference, str) else None


def _find_target(reference: str, root: Schema) -> Schema | None:
    """Find the schema that is referred to; True and False are schemas too, of anything and of nothing."""
    found = follow(reference, root)
    if isinstance(found, bool):
        return {} if found else {"not": {}}
    return found if isinstance(found, dict) else None


def _find_references(schema: Schema) -> set[str]:
    return {reference for _, node in walk(schema) if (reference := _get_reference(node)) is not None}


def _close_over(references: set[str], root: Schema) -> set[str]:
    found: set[str] = set()
    waiting = set(references)
    while waiting:
        reference = waiting.pop()
        found.add(reference)
        waiting |= _find_references(_find_target(reference, root) or {}) - found
    return found


def _keep_definitions(schema: Schema, kept: set[str]) -> Schema:
    """Choose the definitions that the references which stay lead to."""
    places = {
        _find_place(reference) for reference in _close_over({it for it in kept if _find_place(it) is not None}, schema)
    }
    chosen = {
        holder: {name: value for name, value in schema.get(holder, {}).items() if (holder, name) in places}
        for holder in _HOLDERS
    }
    return {holder: definitions for holder, definitions in chosen.items() if definitions}


def _find_place(reference: str) -> tuple[str, str] | None:
    """Name the definition that a reference leads into, None when it leads elsewhere."""
    steps = split_reference(reference) or []
    return (steps[0], steps[1]) if len(steps) > 1 and steps[0] in _HOLDERS else None
