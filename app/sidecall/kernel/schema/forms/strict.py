"""Rewrite schemas in OpenAI's strict form, and find obstacles."""

import json
from collections.abc import Collection, Iterator
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import follow
from sidecall.kernel.schema.forms.arranged import arrange
from sidecall.kernel.schema.forms.choices import name_type
from sidecall.kernel.schema.forms.joined import list_values
from sidecall.kernel.schema.forms.strict_size import find_excess
from sidecall.kernel.schema.references import ANNOTATIONS
from sidecall.kernel.schema.walk import map_children, walk

# Keywords the API refuses in strict mode; what they say goes into the description instead.
_REFUSED = ("default", "uniqueItems", "prefixItems", "discriminator")
# Those that cannot be said otherwise.
_UNSAYABLE = (
    "if then else dependentSchemas dependentRequired propertyNames unevaluatedProperties unevaluatedItems"
    " contains minContains maxContains minProperties maxProperties"
).split()
# The formats that strict mode takes; others are refused with 400.
_FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())
_TYPED = {"type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "properties"}
_MAX_DEPTH = 100
# References inside references that are put in place; each step can multiply the schema's size.
_MAX_INLINED = 4


def find_strict_obstacles(schema: Schema) -> list[str]:
    """List what keeps a schema from the strict form; empty if nothing does."""
    if _is_deeper(schema, _MAX_DEPTH):
        return ["arguments: the schema is nested too deeply; make it flatter"]
    root = arrange(schema)
    found = [(path, reason) for path, node in walk(root) for reason in _find_obstacles(node, root)]
    found += [("", reason) for reason in find_excess(root)]
    return [f"{path or 'arguments'}: {reason}" for path, reason in found]


def _find_obstacles(node: Schema, root: Schema) -> Iterator[str]:
    whole = merge_all_of(node)
    is_open = _is_object(whole) and not whole.keys() & {"properties", "additionalProperties", "$ref"}
    if is_open or whole.get("additionalProperties") not in (None, False):
        yield "strict mode has no objects with free keys (dict, **kwargs)"
    if not node.keys() & _TYPED or any(isinstance(child, bool) for child in _list_members(node)):
        yield "strict mode needs a type (Any or no annotation)"
    if node.get("anyOf") == []:
        yield "no value fits"
    if "prefixItems" in node or isinstance(node.get("items"), list):
        yield "strict mode has no tuples; use a list or a model"
    elif node.get("type") == "array" and "items" not in node:
        yield "strict mode needs a type for the items; use list[...]"
    if len(node.get("allOf", ())) > 1 or "not" in node or "patternProperties" in node:
        yield "strict mode has neither allOf nor not nor patternProperties"
    if any(isinstance(value, (dict, list)) for value in list_values(node) or ()) or node.get("enum") == []:
        yield "strict mode takes texts, numbers, booleans and null as the values of an enum, at least one"
    yield from (f"strict mode has no {keyword}" for keyword in _UNSAYABLE if keyword in node)
    yield from _find_unmet(node, whole)
    yield from _find_clashes(node, whole, root)


def _find_unmet(node: Schema, whole: Schema) -> Iterator[str]:
    """Find requirements that no strict call can meet."""
    named = whole.get("properties", {})
    if _is_object(whole) and "$ref" not in whole and isinstance(required := whole.get("required"), list):
        yield from (f"`{name}` is required, and is no property" for name in required if name not in named)
    values = list_values(node)
    kinds = node.get("type", [])
    kinds = {"number" if kind == "integer" else kind for kind in ([kinds] if isinstance(kinds, str) else kinds)}
    if values and kinds and kinds.isdisjoint(map(name_type, values)):
        yield "no value of the enum has its type"


def _find_clashes(node: Schema, whole: Schema, root: Schema) -> Iterator[str]:
    """Find parts that cannot be merged without changing what is accepted."""
    lone = node["allOf"][0] if len(node.get("allOf", ())) == 1 else {}
    clashing = [key for key in lone.keys() & node.keys() if key not in ANNOTATIONS and lone[key] != node[key]]
    yield from (f"allOf and what stands beside it contradict each other in `{key}`" for key in sorted(clashing))
    if "$ref" not in whole:
        return
    if "$id" in whole and node is not root:
        yield "strict mode has no schemas with an address of their own ($id)"
    elif not isinstance(follow(whole["$ref"], root), dict):
        yield f"{whole['$ref']} refers to nothing in the schema"
    beside = sorted(whole.keys() - ANNOTATIONS - {"$ref", "$id"})
    if beside:
        yield f"strict mode has no {', '.join(beside)} beside a reference"


def _list_members(node: Schema) -> list[Any]:
    options = [option for keyword in ("anyOf", "allOf") for option in node.get(keyword, ())]
    return [*node.get("properties", {}).values(), node.get("items"), *options]


def _is_object(node: Schema) -> bool:
    kind = node.get("type")
    return "properties" in node or kind == "object" or (isinstance(kind, list) and "object" in kind)


def _is_deeper(schema: Any, limit: int) -> bool:
    """Return whether a schema is nested deeper than `limit`, without recursion, which it could exhaust."""
    level: list[Any] = [schema]
    for _ in range(limit):
        values = [value for node in level for value in (node.values() if isinstance(node, dict) else node)]
        level = [value for value in values if isinstance(value, (dict, list))]
    return bool(level)


def merge_all_of(node: Schema) -> Schema:
    """Merge a single-element `allOf` with its sibling keywords."""
    while len(parts := node.get("allOf", ())) == 1 and isinstance(parts[0], dict):
        node = {**parts[0], **{key: value for key, value in node.items() if key != "allOf"}}
    return node


def to_strict(schema: Schema) -> Schema:
    """Rewrite a schema without obstacles: require every property, make optional ones nullable, close objects.

    A model that omits an optional parameter sends null, which the server reads as "not given".
    """
    root = arrange(schema)
    return _rewrite(root, root, ())


def _rewrite(node: Schema, root: Schema, inside: tuple[str, ...]) -> Schema:
    node = merge_all_of(node)
    if node.get("default", ...) is None:
        node = {key: value for key, value in node.items() if key != "default"}
    reference = node.get("$ref")
    if reference is not None and len(node) > 1 and reference not in inside and len(inside) < _MAX_INLINED:
        # A reference must not have siblings, so it is replaced by its target.
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _rewrite({**follow(reference, root), **beside}, root, (*inside, reference))
    node = map_children(node, lambda child: _rewrite(child, root, inside))
    return _close_object(_isolate_reference(_move_to_description(node)))


def _isolate_reference(node: Schema) -> Schema:
    if "$ref" not in node or len(node) == 1:
        return node
    return {"anyOf": [{"$ref": node["$ref"]}], **{key: value for key, value in node.items() if key != "$ref"}}


def _close_object(node: Schema) -> Schema:
    if not _is_object(node):
        return node
    required = set(node.get("required", ()))
    properties = {
        name: value if name in required else _allow_null(value) for name, value in node.get("properties", {}).items()
    }
    kind = node.get("type", "object")
    return {**node, "type": kind, "properties": properties, "required": list(properties), "additionalProperties": False}


def _move_to_description(node: Schema) -> Schema:
    refused = [key for key in node if key in _REFUSED or (key == "format" and node[key] not in _FORMATS)]
    return say_instead(node, refused)


def say_instead(node: Schema, keywords: Collection[str]) -> Schema:
    """Move these keywords of a schema into its description."""
    notes = [_write_note(key, node[key], node.get("description", "")) for key in keywords]
    kept = {key: value for key, value in node.items() if key not in keywords}
    said = [note for note in notes if note]
    texts = [_end_sentence(text) if said else text for text in (node.get("description"), *said) if text]
    return {**kept, "description": " ".join(texts)} if texts else kept


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _write_note(key: str, value: Any, description: str) -> str:
    if key == "default":
        is_said = "default" in description.lower() and str(value) in description
        return "" if is_said else f"Default: {json.dumps(value, ensure_ascii=False)}."
    if key == "format":
        return f"Format: {value}."
    return "Items are unique." if key == "uniqueItems" else ""


def _allow_null(schema: Schema) -> Schema:
    if _takes_null(schema) or any(_takes_null(option) for option in schema.get("anyOf", ())):
        return schema
    outer = {"description": schema["description"]} if "description" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "description"}
    return {"anyOf": [*(inner["anyOf"] if inner.keys() == {"anyOf"} else [inner]), {"type": "null"}], **outer}


def _takes_null(schema: Schema) -> bool:
    return "null" in (schema.get("type"), *(schema["type"] if isinstance(schema.get("type"), list) else ()))
