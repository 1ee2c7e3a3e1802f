"""Find unknown names in arguments, at any depth."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sidecall.kernel.core.tool import DEEPEST, Schema
from sidecall.kernel.schema.describe import list_needed
from sidecall.kernel.schema.drafts import list_forbidden
from sidecall.kernel.schema.errors.entries import Path, choose_member, find_tag, find_tagged, list_options
from sidecall.kernel.schema.references import resolve

# More of them are not looked for.
_MOST_STRAYS = 21
# What names can be in.
_HOLDING = (dict, list)
# Keywords with which an object may have names outside of its properties.
_ELSEWHERE = frozenset("patternProperties allOf anyOf oneOf if dependentSchemas".split())


class UnknownKey(NamedTuple):
    """A name that its object does not accept."""

    path: Path
    value: Any
    node: Schema
    sent: dict[str, Any]

    @property
    def name(self) -> str:
        """The name itself."""
        return str(self.path[-1])

    @property
    def unsent(self) -> list[str]:
        """The arguments that are possible there and missing."""
        return [name for name in self.node["properties"] if name not in self.sent]


def find_unknown_keys(data: Any, root: Schema, deepest: int = DEEPEST) -> list[UnknownKey]:
    """List the unknown names of objects without free keys, up to this depth."""
    found: list[UnknownKey] = []
    for unknown_key in _walk(data, root, root, (), deepest):
        found.append(unknown_key)
        if len(found) >= _MOST_STRAYS:
            break
    return found


def _walk(value: Any, schema: Any, root: Schema, path: Path, deepest: int) -> Iterator[UnknownKey]:
    node = _choose_shape(value, resolve(schema, root), root) if isinstance(schema, dict) else None
    if node is None:
        return
    if isinstance(value, dict):
        yield from _walk_object(value, node, root, path, deepest)
        return
    listed, rest = node.get("prefixItems", []), node.get("items")
    for index, item in enumerate(value):
        if isinstance(item, _HOLDING):
            inner = listed[index] if index < len(listed) else rest
            yield from _walk(item, inner, root, (*path, index), deepest)


def _walk_object(value: dict[str, Any], node: Schema, root: Schema, path: Path, deepest: int) -> Iterator[UnknownKey]:
    if "propertyNames" in node:
        node = _name_properties(node)
    properties, free = node.get("properties", {}), node.get("additionalProperties")
    is_closed = "properties" in node and not free and not _has_elsewhere(node)
    forbidden = list_forbidden(node) if "propertyNames" in node and "properties" in node else ()
    for name, item in value.items():
        if name in forbidden:
            yield UnknownKey((*path, name), item, node, value)
        elif name in properties or free:
            if isinstance(item, _HOLDING) and len(path) + 1 < deepest:
                yield from _walk(item, properties.get(name, free), root, (*path, name), deepest)
        elif is_closed:
            yield UnknownKey((*path, name), item, node, value)


def _has_elsewhere(node: Schema) -> bool:
    found = node.keys() & _ELSEWHERE
    return bool(found) and not all(key in ("anyOf", "oneOf") and list_needed(node[key]) for key in found)


def _name_properties(node: Schema) -> Schema:
    """Rewrite an object whose free keys are enumerated as one with these properties."""
    names = node["propertyNames"].get("enum") if isinstance(node["propertyNames"], dict) else None
    free = node.get("additionalProperties")
    if not names or "properties" in node:
        return node
    inner = free if isinstance(free, dict) else {}
    return {"type": "object", "properties": dict.fromkeys(map(str, names), inner), "additionalProperties": False}


def _choose_shape(value: Any, node: Schema, root: Schema) -> Schema | None:
    """Choose the union member that an object or array was meant for."""
    kind = "object" if isinstance(value, dict) else "array"
    members = [it for it in list_options(node, root) if it.get("type") == kind or "properties" in it]
    if len(members) < 2:
        return members[0] if members else None
    tag = find_tag(members, node)
    tagged = find_tagged(value, tag, members) if tag is not None and isinstance(value, dict) else None
    return tagged or choose_member(value, members)
