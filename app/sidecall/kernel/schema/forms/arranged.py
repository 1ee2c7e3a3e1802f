"""Prepare a schema for the strict forms: one object, choices as `anyOf` only, typed constants."""

from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.joined import KINDS, fits_type, list_values, meet
from sidecall.kernel.schema.forms.one_object import join_root, keep_targets
from sidecall.kernel.schema.references import ANNOTATIONS
from sidecall.kernel.schema.walk import map_children

_CHOICES = ("anyOf", "oneOf")


def arrange(schema: Schema) -> Schema:
    """Rewrite an arguments schema into the form that all strict forms start from."""
    joined = join_root(schema)
    return keep_targets(_arrange(joined), joined)


def _arrange(node: Schema) -> Schema:
    return _give_type(_distribute(_merge_all_of(map_children(_drop_impossible(node), _arrange))))


def _drop_impossible(node: Schema) -> Schema:
    """Remove properties that no value fits."""
    named = node.get("properties")
    if not isinstance(named, dict) or all(it not in (False, {"not": {}}) for it in named.values()):
        return node
    return {**node, "properties": {name: it for name, it in named.items() if it not in (False, {"not": {}})}}


def _merge_all_of(node: Schema) -> Schema:
    """Merge a single-element `allOf` with its sibling keywords, unless they conflict."""
    parts = node.get("allOf")
    if not isinstance(parts, list):
        return node
    kept = [part for part in parts if part not in (True, {})]
    beside = {key: value for key, value in node.items() if key != "allOf"}
    if len(kept) > 1 or any(isinstance(part, bool) for part in kept):
        return {**beside, "allOf": [part if isinstance(part, dict) else {"not": {}} for part in kept]}
    lone = kept[0] if kept else {}
    clashing = any(lone[key] != beside[key] for key in lone.keys() & beside.keys() - ANNOTATIONS)
    return {**beside, "allOf": kept} if clashing else {**lone, **beside}


def _distribute(node: Schema) -> Schema:
    """Move the sibling keywords of a choice into each of its options, as `anyOf`."""
    choices = [node[keyword] for keyword in _CHOICES if isinstance(node.get(keyword), list)]
    if not choices or "$ref" in node:
        return node
    outer = {key: value for key, value in node.items() if key in ANNOTATIONS}
    beside = {key: value for key, value in node.items() if key not in {*ANNOTATIONS, *_CHOICES, "discriminator"}}
    options: list[Any] = [beside or True]
    for choice in choices:
        options = [met for one in options for other in choice if (met := _meet_option(one, other)) is not False]
    return {**outer, "anyOf": options if not beside and len(choices) == 1 else [_settle(option) for option in options]}


def _settle(option: Any) -> Any:
    """Arrange an option again, since it may be a choice itself and now has sibling keywords."""
    return _give_type(_distribute(option)) if isinstance(option, dict) else option


def _meet_option(beside: Any, option: Any) -> Any:
    is_reference = isinstance(option, dict) and "$ref" in option
    # A reference must not have siblings, and its target has the type.
    return option if is_reference and beside is not True and beside.keys() <= {"type"} else meet(beside, option)


def _give_type(node: Schema) -> Schema:
    """Add the type of constants, and remove keywords for objects and arrays."""
    values = list_values(node)
    if not values or any(isinstance(value, (dict, list)) for value in values):
        return node
    kept = {key: value for key, value in node.items() if key not in _OF_CONTAINERS}
    if "type" not in node:
        kinds = list(dict.fromkeys(KINDS[type(value)] for value in values))
        kinds = [kind for kind in kinds if kind != "integer" or "number" not in kinds]
        return {**kept, "type": kinds[0] if len(kinds) == 1 else kinds}
    fitting = [value for value in values if fits_type(value, node["type"])]
    return {**kept, "enum": fitting} if "enum" in node and fitting else kept


_OF_CONTAINERS = frozenset(
    "properties required additionalProperties patternProperties minProperties maxProperties"
    " items prefixItems minItems maxItems uniqueItems".split()
)
