"""Convert earlier drafts of JSON Schema to draft 2020-12."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.references import ANNOTATIONS, list_schemas, map_children

# What nothing fits. It stands for `false`, and is known by being this very object.
NOTHING: Schema = {"not": {}}
_NOTHINGS: tuple[Schema, ...] = (NOTHING, {"not": True})
# What an argument is that is a schema itself; whether it is one is for the tool to say.
ANY_SCHEMA: Schema = {"type": ["object", "boolean"]}
# Drafts by the numbers in their addresses: before this one, siblings of `$ref` are ignored.
BESIDE_REFERENCES = 2019
# The last draft with `id` for `$id`.
WITH_ID = 4
_DRAFT = re.compile(r"json-schema\.org/(?:draft/(20\d\d)-|draft-0?(\d))")
_META = re.compile(r"https?://json-schema\.org/(draft/20\d\d-\d\d|draft-0?\d)/schema")
# Keywords of any draft whose value is a schema, a list of schemas, or a mapping of names to schemas; `items` and
# `dependencies` may be of another kind, too.
_ONE = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems"
    " unevaluatedProperties".split()
)
_MANY = frozenset("allOf anyOf items oneOf prefixItems".split())
_NAMED = frozenset("$defs definitions dependencies dependentSchemas patternProperties properties".split())
_HOLDING = _ONE | _MANY | _NAMED
# Where earlier drafts may differ, or what is `false` is left out.
_CHANGED = frozenset(
    "additionalItems definitions dependencies dependentSchemas exclusiveMaximum exclusiveMinimum if items"
    " properties".split()
)
# What has to be read with all that stands around it.
_TELLING = frozenset(
    "$anchor $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary additionalItems"
    " contentSchema definitions dependencies".split()
)
# Keywords where true and false are common.
_SWITCHES = frozenset("additionalProperties unevaluatedItems unevaluatedProperties".split())

Steps = tuple[str | int, ...]


def is_latest(schema: Any, deepest: int, most: int) -> bool:
    """Return whether a schema uses only draft 2020-12 keywords and no references, within these bounds."""
    level, count = [schema], 0
    for _ in range(deepest + 1):
        count += len(level)
        if count > most or not all(map(_is_latest, level)):
            return False
        level = [child for node in level for _, child in list_inner(node) if isinstance(child, dict)]
        if not level:
            return True
    return False


def _is_latest(node: Any) -> bool:
    if not isinstance(node, dict) or not _TELLING.isdisjoint(node) or isinstance(node.get("items"), list):
        return False
    if isinstance(node.get("exclusiveMinimum"), bool) or isinstance(node.get("exclusiveMaximum"), bool):
        return False
    return not any((it is True or is_nothing(it)) and steps[0] not in _SWITCHES for steps, it in list_inner(node))


def read_draft(address: Any) -> int | None:
    """Return the draft that a `$schema` names: 4, 6, 7, 2019, 2020; None if unknown."""
    found = _DRAFT.search(address) if isinstance(address, str) else None
    return None if found is None else int(found[1] or found[2])


def is_nothing(value: Any) -> bool:
    """Return whether an original schema accepts nothing."""
    return value is False or value in _NOTHINGS


def is_draft(address: str) -> bool:
    """Return whether an address is a draft's metaschema."""
    return _META.fullmatch(address) is not None


def is_schema(value: Any) -> bool:
    """Return whether a value can be a schema."""
    return isinstance(value, (dict, bool))


def hides_siblings(node: Schema, draft: int | None) -> bool:
    """Return whether a reference hides its siblings, as up to draft 7."""
    return draft is not None and draft < BESIDE_REFERENCES and isinstance(node.get("$ref"), str)


def drop_hidden(node: Schema) -> Schema:
    """Copy a schema of which only the reference counts, keeping annotations and definitions."""
    return {key: value for key, value in node.items() if key == "$ref" or key in ANNOTATIONS}


def list_inner(node: Schema) -> Iterator[tuple[Steps, Any]]:
    """Yield each direct subschema, of any draft, with the keys and index that lead to it."""
    if _HOLDING.isdisjoint(node):
        return
    for key, value in node.items():
        if key in _ONE and is_schema(value):
            yield (key,), value
        elif key in _MANY and isinstance(value, list):
            yield from (((key, index), item) for index, item in enumerate(value) if is_schema(item))
        elif key in _NAMED and isinstance(value, dict):
            yield from (((key, name), item) for name, item in value.items() if is_schema(item))


def change_inner(node: Schema, change: Callable[[Steps, Any], Any]) -> Schema:
    """Copy a schema with `change` applied to its direct subschemas, except booleans that open or close it."""
    if _HOLDING.isdisjoint(node):
        return dict(node)
    inner = {
        steps: child if isinstance(child, bool) and steps[0] in _SWITCHES else change(steps, child)
        for steps, child in list_inner(node)
    }
    return {key: _put(key, value, inner) for key, value in node.items()}


def _put(key: str, value: Any, inner: dict[Steps, Any]) -> Any:
    if (key,) in inner:
        return inner[(key,)]
    if isinstance(value, list):
        return [inner.get((key, index), item) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {name: inner.get((key, name), item) for name, item in value.items()}
    return value


def move(node: Schema, steps: Steps, draft: int | None) -> Steps | None:
    """Return the new place of a subschema after modernizing; None if it is dropped."""
    key = steps[0]
    if hides_siblings(node, draft) and key not in ANNOTATIONS:
        return None
    if key == "items" and len(steps) > 1:
        return None if "prefixItems" in node else ("prefixItems", *steps[1:])
    if key == "additionalItems":
        return ("items",) if isinstance(node.get("items"), list) else None
    if _goes_with_false(node, steps):
        return None
    later = _LATER.get(str(key))
    if later is None:
        return None if key == "contentSchema" else steps
    return None if steps[1] in _get_named(node, later) else (later, *steps[1:])


def _goes_with_false(node: Schema, steps: Steps) -> bool:
    """Return whether a boolean `false` at this place is written differently or left out."""
    if steps[0] in _CONDITIONS:
        return is_nothing(node.get("then")) or is_nothing(node.get("else"))
    depending = (_get_named(node, keyword) for keyword in ("dependentSchemas", "dependencies"))
    return steps[0] == "properties" and any(is_nothing(it.get(str(steps[1]))) for it in depending)


_CONDITIONS = ("if", "then", "else")
# Keywords whose members have moved to another one.
_LATER = {"definitions": "$defs", "dependencies": "dependentSchemas"}


def modernize(node: Schema) -> Schema:
    """Convert a schema to draft 2020-12; its subschemas are converted already, with NOTHING for `false`."""
    made = dict(node)
    if _CHANGED.isdisjoint(made):
        return made
    _mend_items(made)
    _mend_bounds(made)
    _mend_dependencies(made)
    if isinstance(definitions := made.pop("definitions", None), dict):
        made["$defs"] = {**definitions, **_get_named(made, "$defs")}
    _mend_conditions(made)
    _leave_out_absent(made)
    return made


def _get_named(node: Schema, key: str) -> Schema:
    found = node.get(key)
    return found if isinstance(found, dict) else {}


def _mend_items(node: Schema) -> None:
    rest = node.pop("additionalItems", None)
    if isinstance(items := node.get("items"), list):
        if items:
            node.setdefault("prefixItems", items)
        # OpenAI refuses an array without it.
        node["items"] = {} if rest is None else rest
    if node.get("items") is NOTHING:
        count = len(node["prefixItems"]) if isinstance(node.get("prefixItems"), list) else 0
        most = node.get("maxItems", count)
        node["maxItems"] = min(count, most) if isinstance(most, (int, float)) else most
        node["items"] = {}


def _mend_bounds(node: Schema) -> None:
    """Convert boolean exclusive bounds, as in draft 4 and OpenAPI 3.0, to numbers."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        said = node.get(exclusive)
        if isinstance(said, bool):
            del node[exclusive]
            if said and bound in node:
                node[exclusive] = node.pop(bound)


def _mend_dependencies(node: Schema) -> None:
    said = node.pop("dependencies", None)
    if not isinstance(said, dict):
        return
    names = {name: it for name, it in said.items() if isinstance(it, list)}
    schemas = {name: it for name, it in said.items() if isinstance(it, dict)}
    if names:
        known = _get_named(node, "dependentRequired")
        node["dependentRequired"] = {**known, **{name: [*known.get(name, ()), *it] for name, it in names.items()}}
    if schemas:
        others = _get_named(node, "dependentSchemas")
        both = {name: {"allOf": [others[name], it]} for name, it in schemas.items() if name in others}
        node["dependentSchemas"] = {**others, **schemas, **both}


def _mend_conditions(node: Schema) -> None:
    """Rewrite conditions of `false` as `not`."""
    condition, then, other = (node.get(key) for key in _CONDITIONS)
    if not isinstance(condition, dict) or (then is not NOTHING and other is not NOTHING):
        return
    wanted = [{"not": condition}, other] if then is NOTHING else [condition, then]
    for key in _CONDITIONS:
        node.pop(key, None)
    given = node.get("allOf")
    node["allOf"] = [*(given if isinstance(given, list) else ()), *(it for it in wanted if it is not None)]


def _leave_out_absent(node: Schema) -> None:
    """Remove properties that are `false`, directly or by a dependency, and forbid their names instead."""
    properties, dependent = _get_named(node, "properties"), _get_named(node, "dependentSchemas")
    absent = list(dict.fromkeys(it for named in (properties, dependent) for it in named if named[it] is NOTHING))
    if not absent:
        return
    if "properties" in node:
        node["properties"] = {name: inner for name, inner in properties.items() if name not in absent}
    if dependent:
        node["dependentSchemas"] = {name: inner for name, inner in dependent.items() if name not in absent}
        if not node["dependentSchemas"]:
            del node["dependentSchemas"]
    if node.get("additionalProperties") is False and "patternProperties" not in node:
        return
    forbidden: Schema = {"not": {"enum": absent}}
    names = node.get("propertyNames")
    node["propertyNames"] = {"allOf": [names, forbidden]} if isinstance(names, dict) else forbidden


def list_forbidden(node: Schema) -> list[str]:
    """List the names that a modernized object forbids."""
    rule = _get_named(node, "propertyNames")
    if isinstance(joined := rule.get("allOf"), list) and joined and isinstance(joined[-1], dict):
        rule = joined[-1]
    found = _get_named(rule, "not").get("enum")
    return found if isinstance(found, list) else []


def hide_forbidden(schema: Schema) -> Schema:
    """Remove forbidden names from a schema, for readers."""
    if not any("propertyNames" in node and list_forbidden(node) for node in list_schemas(schema)):
        return schema
    return _hide_forbidden(schema)


def _hide_forbidden(schema: Schema) -> Schema:
    node = map_children(schema, _hide_forbidden)
    if not list_forbidden(node):
        return node
    others = node["propertyNames"].get("allOf", ())[:1]
    kept = {key: value for key, value in node.items() if key != "propertyNames"}
    return {**kept, "propertyNames": others[0]} if others else kept
