"""Find the patterns of a JSON Schema, and leave some of them out."""

from collections.abc import Callable, Mapping
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.references import list_schemas, map_children


def list_patterns(schema: Schema) -> list[str]:
    """List the patterns of texts and of names, each as often as it stands there."""
    nodes = list_schemas(schema)
    named = [pattern for node in nodes for pattern in node.get("patternProperties", ())]
    return [node["pattern"] for node in nodes if "pattern" in node] + named


def leave_patterns(schema: Schema, leaves: Callable[[str], bool]) -> Schema:
    """Copy a schema without some patterns; what fits it fits the copy, also where a pattern decides between others."""
    node = map_children(schema, lambda inner: leave_patterns(inner, leaves))
    if "pattern" in node and leaves(node["pattern"]):
        del node["pattern"]
    if any(map(leaves, node.get("patternProperties", ()))):
        # Which names are left for the others depends on it.
        _drop(node, ("patternProperties", "additionalProperties", "unevaluatedProperties"))
    for keyword, beside in _DECIDING.items():
        if keyword in node and node[keyword] != schema[keyword]:
            members = node[keyword]
            _drop(node, (keyword, *beside))
            if keyword == "oneOf":
                node["allOf"] = [*node.get("allOf", ()), {"anyOf": members}]
    return node


# Keywords that refuse more the less their schemas refuse, with those that go with them.
_DECIDING: Mapping[str, tuple[str, ...]] = {
    "not": (),
    "if": ("then", "else"),
    "oneOf": (),
    "contains": ("minContains", "maxContains"),
}


def _drop(node: dict[str, Any], keywords: tuple[str, ...]) -> None:
    for keyword in keywords:
        node.pop(keyword, None)
