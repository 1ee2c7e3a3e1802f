"""Merge schemas of one value: intersection (all hold) or union (any holds)."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.references import ANNOTATIONS

# Python's types of what JSON has; True is an int to `isinstance`, so the very type counts.
KINDS = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
    dict: "object",
    list: "array",
}


def fits_type(value: Any, types: Any) -> bool:
    """Return whether a value has one of these JSON Schema types."""
    kinds = [types] if isinstance(types, str) else types
    is_whole = type(value) is float and value.is_integer()
    return (
        KINDS[type(value)] in kinds or (type(value) is int and "number" in kinds) or (is_whole and "integer" in kinds)
    )


def meet(one: Any, other: Any) -> Any:
    """Return the intersection of two schemas; False if nothing fits both."""
    if one is False or other is False:
        return False
    if one is True or other is True or one == other:
        return other if one is True else one
    one, other = _align_values(one, other)
    met = {**other, **one}
    for key in one.keys() & other.keys() - ANNOTATIONS:
        if one[key] != other[key]:
            value = _MEETINGS[key](one[key], other[key]) if key in _MEETINGS else None
            if value is None:
                return _keep_both(one, other)
            met[key] = value
    values, types = list_values(met), met.get("type")
    if types == [] or (values is not None and not any(types is None or fits_type(it, types) for it in values)):
        return False
    return met


def meet_known(one: Schema, other: Schema) -> Schema:
    """Intersect keywords where possible; of two that cannot be merged, the first stays."""
    both = {key: _MEETINGS[key](one[key], other[key]) for key in one.keys() & other.keys() & _MEETINGS.keys()}
    return {**other, **one, **both}


def _keep_both(one: Schema, other: Schema) -> Schema:
    outer = {key: value for key, value in {**other, **one}.items() if key in ANNOTATIONS}
    return {**outer, "allOf": [_drop_annotations(one), _drop_annotations(other)]}


def _align_values(one: Schema, other: Schema) -> tuple[Schema, Schema]:
    """Convert constants to `enum` where both have values."""
    if list_values(one) is None or list_values(other) is None:
        return one, other
    return _say_enum(one), _say_enum(other)


def _say_enum(schema: Schema) -> Schema:
    kept = {key: value for key, value in schema.items() if key not in ("const", "enum")}
    return {**kept, "enum": list_values(schema)}


def list_values(schema: Schema) -> list[Any] | None:
    """List a schema's enumerated values, or None."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def takes_null(schema: Any) -> bool:
    """Return whether a schema's types, values and options accept null."""
    if not isinstance(schema, dict):
        return schema is True
    values, kinds = list_values(schema), schema.get("type", "null")
    if (values is not None and None not in values) or "null" not in ([kinds] if isinstance(kinds, str) else kinds):
        return False
    if not schema.keys().isdisjoint(("$ref", "not")):
        return False
    options = [option for keyword in ("anyOf", "oneOf") for option in schema.get(keyword, ())]
    return all(map(takes_null, schema.get("allOf", ()))) and (not options or any(map(takes_null, options)))


def _name_value(value: Any) -> str:
    """Return a key for a value such that 1 and True differ."""
    return json.dumps(value, sort_keys=True)


def _share_values(one: list[Any], other: list[Any]) -> list[Any]:
    names = {_name_value(value) for value in other}
    return [value for value in one if _name_value(value) in names]


def _share_types(one: Any, other: Any) -> Any:
    first, second = ([kinds] if isinstance(kinds, str) else kinds for kinds in (one, other))
    shared = [kind for kind in first if kind in second or (kind == "integer" and "number" in second)]
    shared += [kind for kind in second if kind == "integer" and "number" in first and kind not in shared]
    return shared[0] if len(shared) == 1 else shared


def _share_properties(one: Schema, other: Schema) -> Schema:
    return {name: meet(one.get(name, True), other.get(name, True)) for name in {**one, **other}}


_MEETINGS: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _share_types,
    "enum": _share_values,
    "properties": _share_properties,
    "required": lambda one, other: list(dict.fromkeys((*one, *other))),
    "items": meet,
    "additionalProperties": meet,
    **dict.fromkeys("minimum exclusiveMinimum minLength minItems minProperties".split(), max),
    **dict.fromkeys("maximum exclusiveMaximum maxLength maxItems maxProperties".split(), min),
}


def unite(schemas: Iterable[Any]) -> Any:
    """Return the union of schemas."""
    options = [option for schema in schemas for option in _list_options(schema)]
    distinct = [option for index, option in enumerate(options) if not _is_covered(index, options)]
    if len(distinct) < 2:
        return _join_descriptions(distinct[0], options) if distinct else False
    outer = _share_annotations(distinct)
    inner = [{key: value for key, value in option.items() if key not in outer} for option in distinct]
    return {**(_unite_values(inner) or {"anyOf": inner}), **outer}


def _join_descriptions(schema: Schema, options: list[Schema]) -> Schema:
    """Combine descriptions that differ between several places."""
    texts = list(dict.fromkeys(option["description"] for option in options if "description" in option))
    return {**schema, "description": " / ".join(texts)} if len(texts) > 1 else schema


def _list_options(schema: Any) -> list[Schema]:
    if isinstance(schema, bool):
        return [{}] if schema else []
    options = schema.get("anyOf")
    if not isinstance(options, list) or schema.keys() - ANNOTATIONS != {"anyOf"}:
        return [schema]
    outer = {key: value for key, value in schema.items() if key != "anyOf"}
    return [{**outer, **option} for it in options for option in _list_options(it)]


def _is_covered(index: int, options: list[Schema]) -> bool:
    """Return whether another option accepts everything that this one does; of two equal ones the first stays."""
    own = _drop_annotations(options[index])
    for place, option in enumerate(options):
        other = _drop_annotations(option)
        is_narrower = all(key in own and own[key] == value for key, value in other.items())
        if place != index and is_narrower and (place < index or other.keys() != own.keys()):
            return True
    return False


def _drop_annotations(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key not in ANNOTATIONS}


def _share_annotations(options: list[Schema]) -> Schema:
    first, *rest = options
    shared = {key: value for key, value in first.items() if key in ANNOTATIONS}
    return {key: value for key, value in shared.items() if all(it.get(key, it) == value for it in rest)}


def _unite_values(options: list[Schema]) -> Schema | None:
    """Merge options that enumerate values of one type."""
    values: dict[str, Any] = {}
    beside: list[Schema] = []
    for option in sorted(options, key=_count_values, reverse=True):  # The longest list has them in their order.
        named = list_values(option)
        if named is None:
            return None
        values |= {_name_value(value): value for value in named}
        beside.append({key: it for key, it in option.items() if key not in {*ANNOTATIONS, "const", "enum"}})
    return {**beside[0], "enum": list(values.values())} if all(it == beside[0] for it in beside) else None


def _count_values(schema: Schema) -> int:
    return len(list_values(schema) or ())


def name_type(value: Any, numbers: str = "number") -> str:
    """Return the JSON type of a value; `numbers` is the name for numbers."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return numbers
    return next(kind for kind, types in _TYPES.items() if isinstance(value, types))


_TYPES: dict[str, type] = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": object}
