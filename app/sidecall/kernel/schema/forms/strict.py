"""Rewrite schemas in OpenAI's strict form, and find obstacles."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import follow
from sidecall.kernel.schema.forms.merging import KINDS, fits_type, list_values, meet, name_type
from sidecall.kernel.schema.forms.one_object import join_root, keep_targets
from sidecall.kernel.schema.references import ANNOTATIONS, list_schemas, map_children, walk

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
