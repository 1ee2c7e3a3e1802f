"""Write schemas in Anthropic's strict form, and find obstacles."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.merging import list_values
from sidecall.kernel.schema.forms.strict import arrange, find_strict_obstacles, merge_all_of, say_instead
from sidecall.kernel.schema.references import ANNOTATIONS, list_schemas, map_children, walk
from sidecall.kernel.suggest.fuzzy_match import find_same

# What it has, as the `transform_schema` of its own library has it; what else a schema says is said in words.
_ALWAYS = frozenset("type anyOf enum const description title".split())
_OF_TYPES = {"object": frozenset("properties required additionalProperties".split()), "array": frozenset(["items"])}
_FORMATS = frozenset("date-time time date duration email hostname uri ipv4 ipv6 uuid".split())
_IN_SENTENCES = ("default", "uniqueItems", "format")
# What is left out without a word: models have no use for it.
_UNSAID = (ANNOTATIONS | {"$id", "discriminator"}) - {"default", "description", "examples", "deprecated"}
# Keywords that narrow values of one type.
_NARROWING = {
    "string": frozenset("minLength maxLength pattern format".split()),
    "array": frozenset("items minItems maxItems uniqueItems".split()),
    "object": frozenset("properties required additionalProperties minProperties maxProperties".split()),
    "number": frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()),
}
# How many parameters with a choice of types, and how many optional ones, the API takes of all tools of a request.
MAX_UNIONS = 16
MAX_OPTIONAL = 24


def find_anthropic_obstacles(schema: Schema) -> list[str]:
    """List what keeps a schema from Anthropic's strict form; empty if nothing does."""
    return find_strict_obstacles(schema) or find_own_obstacles(schema)


def find_own_obstacles(schema: Schema) -> list[str]:
    """List the obstacles that remain for a schema in OpenAI's strict form."""
    root = arrange(schema)
    nodes = list(walk(root))
    found = [f"{path or 'arguments'}: refers to itself" for path, node in nodes if "$ref" in node]
    if found or len(nodes) <= MAX_UNIONS:  # So few cannot be too many, as mostly.
        return found
    counted = count_loose(to_anthropic(schema))
    limits = zip(counted, (MAX_OPTIONAL, MAX_UNIONS), ("optional parameters", "choices of types"), strict=True)
    return [
        f"arguments: Anthropic takes at most {most} {what} of all strict tools; here are {count}"
        for count, most, what in limits
        if count > most
    ]


def is_recursive(schema: Schema) -> bool:
    """Return whether a schema is recursive: it still has references after inlining."""
    return any("$ref" in node for node in list_schemas(schema))


def count_loose(strict: Schema) -> tuple[int, int]:
    """Count a strict schema's optional parameters and those with several types, at every depth."""
    nodes = list_schemas(strict)
    optional = sum(len(node.get("properties", {}).keys() - set(node.get("required", ()))) for node in nodes)
    return optional, sum("anyOf" in node for node in nodes)


def to_anthropic(schema: Schema) -> Schema:
    """Rewrite a schema without obstacles: close objects, and move keywords that the API refuses into descriptions.

    Optional properties stay optional. Bounds go into the description as in Anthropic's own library; the server still
    enforces them.
    """
    return _rewrite(arrange(schema))


def _rewrite(node: Schema) -> Schema:
    node = _drop_needless_nulls(merge_all_of(node))
    if node.get("default", ...) is None:
        node = {key: value for key, value in node.items() if key != "default"}
    if isinstance(node.get("type"), list) and list_values(node) is None:
        node = _split_types(node)
    node = map_children(node, _rewrite)
    if list_values(node) is not None:
        # Its values say it.
        node.pop("type", None)
    if "properties" in node or node.get("type") == "object":
        node = {**node, "type": "object", "properties": node.get("properties", {}), "additionalProperties": False}
    return _move_to_description(node)


def _drop_needless_nulls(node: Schema) -> Schema:
    """Remove null from optional properties where it means the same, since each choice of types counts."""
    required = set(node.get("required", ()))
    properties = node.get("properties", {})
    changed = {
        name: _drop_null(it)
        for name, it in properties.items()
        if name not in required and it.get("default", ...) is None
    }
    return {**node, "properties": {**properties, **changed}} if changed else node


def _drop_null(schema: Schema) -> Schema:
    kept = {key: value for key, value in schema.items() if key != "default"}
    kinds = kept.get("type")
    if isinstance(kinds, list) and list_values(kept) is None:
        rest = [kind for kind in kinds if kind != "null"]
        return {**kept, "type": rest[0] if len(rest) == 1 else rest} if rest else kept
    options = [option for option in kept.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        return {**options[0], **{key: value for key, value in kept.items() if key != "anyOf"}}
    return {**kept, "anyOf": options} if options else kept


def _split_types(node: Schema) -> Schema:
    """Split a list of types into a choice, each with the keywords that apply to it."""
    kinds = node["type"]
    outer = {key: value for key, value in node.items() if key in ANNOTATIONS}
    inner = {key: value for key, value in node.items() if key not in ANNOTATIONS and key != "type"}
    options = [{"type": kind, **{key: inner[key] for key in inner if _concerns(key, kind)}} for kind in kinds]
    return {**(options[0] if len(options) == 1 else {"anyOf": options}), **outer}


def _concerns(keyword: str, kind: str) -> bool:
    kind = "number" if kind == "integer" else kind
    return keyword in _NARROWING.get(kind, ()) or all(keyword not in it for it in _NARROWING.values())


def _move_to_description(node: Schema) -> Schema:
    refused = list(_find_refused(node))
    node = say_instead(node, [key for key in refused if key in _IN_SENTENCES])
    moved = {key: node[key] for key in refused if key in node}
    said = {key: value for key, value in moved.items() if key not in _UNSAID and not key.startswith("x-")}
    kept = {key: value for key, value in node.items() if key not in moved}
    if not said:
        return kept
    bounds = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in said.items())
    text = node.get("description")
    return {**kept, "description": f"{text}\n\n{{{bounds}}}" if text else f"{{{bounds}}}"}


def _find_refused(node: Schema) -> Iterator[str]:
    has = _ALWAYS | _OF_TYPES.get(node.get("type", ""), frozenset())
    for key, value in node.items():
        if key not in has and not _is_kept(node, key, value):
            yield key


def _is_kept(node: Schema, key: str, value: Any) -> bool:
    """Return whether the API accepts a keyword with this value."""
    kind = node.get("type")
    is_format = key == "format" and kind == "string" and value in _FORMATS
    return is_format or (key == "minItems" and kind == "array" and value in (0, 1))


# Names of arguments that the API refuses, and what takes their place.
_LONGEST = 64

_REFUSED = re.compile(r"[^a-zA-Z0-9_.-]+")
# The pattern of names; whether it holds for nested objects is not documented.
KEY = re.compile(rf"[a-zA-Z0-9_.-]{{1,{_LONGEST}}}")


def choose_keys(schema: Schema) -> Mapping[str, str]:
    """Choose replacements for argument names that the API refuses.

    Only names that are read back unambiguously, since they differ in separators alone: `filter[name]` is listed as
    `filter_name`. Names in other alphabets, and those of objects with free keys, are unchanged.
    """
    names = schema.get("properties", {})
    if schema.get("additionalProperties", False) is not False:
        return {}
    chosen = {name: _REFUSED.sub("_", name).strip("_") for name in names if not KEY.fullmatch(name)}
    return {name: key for name, key in chosen.items() if KEY.fullmatch(key) and find_same(key, names) == [name]}


def rename_arguments(schema: Schema) -> Schema:
    """Copy an arguments schema with the chosen names."""
    chosen = choose_keys(schema)
    if not chosen:
        return schema
    written = {**schema, "properties": {chosen.get(name, name): it for name, it in schema["properties"].items()}}
    if "required" in schema:
        written["required"] = [chosen.get(name, name) for name in schema["required"]]
    return written
