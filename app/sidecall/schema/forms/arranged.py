"""Arrange a schema for the strict forms: one object, its choices said by `anyOf` alone, and fixed values typed."""

from typing import Any

from sidecall.core.tool import Schema
from sidecall.schema.forms.joined import list_values, meet
from sidecall.schema.forms.one_object import join_root, keep_targets
from sidecall.schema.references import ANNOTATIONS
from sidecall.schema.walk import map_children

_CHOICES = ("anyOf", "oneOf")
# Python's types of what JSON has; True is an int to `isinstance`, so the very type counts.
_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def arrange(schema: Schema) -> Schema:
    """Write the schema of a tool's arguments anew, without what the strict forms would each have to look for."""
    joined = join_root(schema)
    return keep_targets(_arrange(joined), joined)


def _arrange(node: Schema) -> Schema:
    return _give_type(_distribute(map_children(_drop_impossible(node), _arrange)))


def _drop_impossible(node: Schema) -> Schema:
    """Leave out properties that no value fits."""
    named = node.get("properties")
    if not isinstance(named, dict) or all(it not in (False, {"not": {}}) for it in named.values()):
        return node
    return {**node, "properties": {name: it for name, it in named.items() if it not in (False, {"not": {}})}}


def _distribute(node: Schema) -> Schema:
    """Put what stands beside a choice into each of its options, as `anyOf`."""
    choices = [node[keyword] for keyword in _CHOICES if isinstance(node.get(keyword), list)]
    if not choices or "$ref" in node:
        return node
    outer = {key: value for key, value in node.items() if key in ANNOTATIONS}
    beside = {key: value for key, value in node.items() if key not in {*ANNOTATIONS, *_CHOICES, "discriminator"}}
    options: list[Any] = [beside or True]
    for choice in choices:
        options = [met for one in options for other in choice if (met := _meet_option(one, other)) is not False]
    return {**outer, "anyOf": options}


def _meet_option(beside: Any, option: Any) -> Any:
    is_reference = isinstance(option, dict) and "$ref" in option
    # Nothing may stand beside a reference, and it says the type itself.
    return option if is_reference and beside is not True and beside.keys() <= {"type"} else meet(beside, option)


def _give_type(node: Schema) -> Schema:
    """Add the type of fixed values, and drop those of other types than is said."""
    values = list_values(node)
    if not values or any(type(value) not in _KINDS for value in values):
        return node
    kinds = list(dict.fromkeys(_KINDS[type(value)] for value in values))
    if "type" not in node:
        kinds = [kind for kind in kinds if kind != "integer" or "number" not in kinds]
        return {**node, "type": kinds[0] if len(kinds) == 1 else kinds}
    fitting = [value for value in values if _fits(value, node["type"])]
    return {**node, "enum": fitting} if "enum" in node and fitting else node


def _fits(value: Any, types: Any) -> bool:
    kinds = [types] if isinstance(types, str) else types
    is_whole = type(value) is float and value.is_integer()
    return (
        _KINDS[type(value)] in kinds or (type(value) is int and "number" in kinds) or (is_whole and "integer" in kinds)
    )
