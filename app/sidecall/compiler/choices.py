"""Tell how much work it is to validate values that may each be one of several things.

Where the members of a choice hold that choice again, a validator tries each of them at each level: of twenty levels
with two members a million times.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from sidecall.kernel.core.incremental_validation import MOST_CHOSEN
from sidecall.kernel.core.tool import MOST_VALUES, Schema
from sidecall.kernel.schema.references import list_schemas, resolve

_CHOICES = ("anyOf", "oneOf")
_COMBINED = (*_CHOICES, "allOf", "if", "then", "else", "not")
_SCALARS = frozenset(("null", "string", "number", "integer", "boolean"))
# How many values are validated at once where choices lead back to themselves, and at least where they do not.
_FEW, _FEWEST = 2, 10
# How many members of choices are tried at once.
_MOST_TRIED = 3_000
# A value may be looked at this often, and each part of it so many times, before its errors cost too much to list.
_MOST_LOOKS, _MOST_EACH = 500, 8


def choose_most_at_once(flat: Schema, most: int = MOST_VALUES) -> int:
    """Return how many values are validated without others having a turn, `most` of a schema without choices."""
    nodes = list_schemas(flat)
    if not any(key in node for node in nodes for key in _CHOICES):
        return most
    if _leads_back(nodes):
        return _FEW
    return max(_FEWEST, min(most, MOST_CHOSEN, _MOST_TRIED // _measure(flat, {})))


def leads_back(flat: Schema) -> bool:
    """Return whether members of a choice may hold that choice again; references are left only where schemas do so."""
    return _leads_back(list_schemas(flat))


def _leads_back(nodes: list[Schema]) -> bool:
    return any("$ref" in node for node in nodes) and any(
        sum(_holds(it) for it in node.get(key, ())) > 1 for node in nodes for key in _CHOICES
    )


def _holds(member: Any) -> bool:
    """Return whether a member of a choice may hold other values."""
    return isinstance(member, dict) and not ("type" in member and _is_scalar(member["type"]))


def _is_scalar(said: Any) -> bool:
    return said in _SCALARS if isinstance(said, str) else _SCALARS.issuperset(said)


def _measure(node: Any, known: dict[int, int]) -> int:
    """Return how many members of choices are tried for one value at most, choices within members included."""
    if not isinstance(node, dict):
        return 1
    if id(node) not in known:
        known[id(node)] = 1
        chosen = sum(_measure(it, known) for key in _CHOICES for it in node.get(key, ()))
        inner = [*node.get("properties", {}).values(), *node.get("prefixItems", ()), *node.get("allOf", ())]
        inner += [node[key] for key in ("items", "additionalProperties") if key in node]
        known[id(node)] = max(1, chosen, *(_measure(it, known) for it in inner)) if inner else max(1, chosen)
    return known[id(node)]


def is_costly(value: Any, root: Schema) -> bool:
    """Return whether listing the errors of a value would look at its parts again and again."""
    weigher = _Weigher(root)
    try:
        looks = weigher.weigh(value, root)
    except RecursionError:
        return True
    return looks > max(_MOST_LOOKS, _MOST_EACH * weigher.pairs)


class _Weigher:
    """Counts looks at a value, without taking them: each part is counted once by each schema."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._known: dict[tuple[int, int], int] = {}
        # Of a value and a schema.
        self.pairs = 0

    def weigh(self, value: Any, node: Any) -> int:
        if not isinstance(node, dict):
            return 1
        node = resolve(node, self._root)
        # Values without parts may be one object in many places.
        place = (id(value), id(node)) if isinstance(value, dict | list) else (self.pairs, 0)
        if place not in self._known:
            self.pairs += 1
            self._known[place] = 1
            looks = 1
            # In this frame, since values may be nearly as deep as the stack.
            for part, schema in _list_inner(value, node):
                looks += self.weigh(part, schema)
            self._known[place] = looks
        return self._known[place]


def _list_inner(value: Any, node: Schema) -> Iterator[tuple[Any, Any]]:
    """Yield the value itself with each combined schema, and its members with theirs."""
    for key in _COMBINED:
        inner = node.get(key, ())
        yield from ((value, it) for it in (inner if isinstance(inner, list | tuple) else (inner,)))
    if isinstance(value, dict):
        properties, free = node.get("properties", {}), node.get("additionalProperties")
        yield from ((item, properties.get(name, free)) for name, item in value.items())
    elif isinstance(value, list):
        listed = node.get("prefixItems", ())
        yield from zip_longest(value, listed[: len(value)], fillvalue=node.get("items"))
