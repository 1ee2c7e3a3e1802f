"""Check a schema against the size limits of OpenAI's strict mode."""

from collections.abc import Iterator, Sequence
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.joined import list_values
from sidecall.kernel.schema.walk import list_schemas

# As the API's documentation of structured outputs has them.
_MAX_PROPERTIES = 5_000
_MAX_LEVELS = 10
_MAX_VALUES = 1_000
_MAX_CHARACTERS = 120_000
# The characters of an enum that has many values.
_MANY_VALUES = 250
_MAX_ENUM_CHARACTERS = 15_000


def find_excess(root: Schema) -> Iterator[str]:
    """List the limits of strict mode that an arguments schema exceeds."""
    nodes = list_schemas(root)
    enums = [values for node in nodes if (values := list_values(node)) is not None]
    names = [name for node in nodes for key in ("properties", "$defs", "definitions") for name in node.get(key, ())]
    texts = [*names, *(value for values in enums for value in values if isinstance(value, str))]
    found = {
        "properties": (sum(len(node.get("properties", ())) for node in nodes), _MAX_PROPERTIES),
        "levels of objects in objects": (_measure_levels(root, len(nodes)), _MAX_LEVELS),
        "values of enums": (sum(map(len, enums)), _MAX_VALUES),
        "characters of names and values": (sum(map(len, texts)), _MAX_CHARACTERS),
        f"characters of an enum of more than {_MANY_VALUES} values": (_measure_longest(enums), _MAX_ENUM_CHARACTERS),
    }
    for what, (count, limit) in found.items():
        if count > limit:
            yield f"strict mode takes at most {limit:,} {what}; here are {count:,}"


def _measure_longest(enums: Sequence[list[Any]]) -> int:
    sizes = [sum(len(it) for it in values if isinstance(it, str)) for values in enums if len(values) > _MANY_VALUES]
    return max(sizes, default=0)


def _measure_levels(root: Schema, size: int) -> int:
    """Count the levels of nested objects, the root included, up to `size`."""
    if size <= _MAX_LEVELS:
        return size
    levels, deepest = [(root, 0)], 0
    for node, above in levels:  # The list grows during the loop.
        level = above + ("properties" in node)
        deepest = max(deepest, level)
        levels += [(child, level) for child in _list_children(node)]
    return deepest


def _list_children(node: Schema) -> Iterator[Schema]:
    values = [node.get("items"), *node.get("anyOf", ()), *node.get("properties", {}).values()]
    values += node.get("$defs", {}).values()
    return (value for value in values if isinstance(value, dict))
