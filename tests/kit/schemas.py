"""Schemas of arguments as other programs write them, by what is special about each."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

from sidecall.kernel.core.tool import Schema

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_CAT = {
    "type": "object",
    "properties": {"kind": {"const": "cat"}, "lives": {**_NUMBER, "default": 9}},
    "required": ["kind"],
}
_DOG = {"type": "object", "properties": {"kind": {"const": "dog"}, "tail": {"type": "boolean"}}, "required": ["kind"]}
_NODE = {"type": "object", "properties": {"value": _NUMBER, "below": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}


def _take(x: Any, *, required: bool = True, **more: Any) -> Schema:
    return {"type": "object", "properties": {"x": x}, **({"required": ["x"]} if required else {}), **more}


def _refer(definitions: Schema, *, required: bool = True, **beside: Any) -> Schema:
    """Take the first of some definitions."""
    reference = {"$ref": f"#/$defs/{next(iter(definitions))}", **beside}
    return {**_take(reference, required=required), "$defs": definitions}


def _nest(depth: int) -> Schema:
    return reduce(lambda inner, _: _take(inner), range(depth - 1), _take(_TEXT))


# What is one object with properties, each of a known type.
PLAIN: Mapping[str, Schema] = {
    "nothing": {"type": "object", "properties": {}},
    "no properties": {"type": "object"},
    "empty": {},
    "required": _take(_TEXT),
    "optional": _take(_TEXT, required=False),
    "default": _take({**_NUMBER, "default": 5, "description": "How many"}, required=False),
    "default null": _take({**_TEXT, "default": None}, required=False),
    "default of a list": _take({"type": "array", "items": _TEXT, "default": []}, required=False),
    "closed": _take(_TEXT, additionalProperties=False),
    "description of the whole": _take(_TEXT, description="What it takes."),
    "title": _take({**_TEXT, "title": "X"}, title="Arguments"),
    "bounds": _take({**_NUMBER, "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 2}),
    "bounds of a text": _take({**_TEXT, "minLength": 1, "maxLength": 9, "pattern": "^a"}),
    "bounds of a list": _take({"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 9, "uniqueItems": True}),
    "one item at least": _take({"type": "array", "items": _TEXT, "minItems": 1}),
    "format date-time": _take({**_TEXT, "format": "date-time"}),
    "format uri": _take({**_TEXT, "format": "uri"}),
    "format of its own": _take({**_TEXT, "format": "password"}),
    "format of a number": _take({**_NUMBER, "format": "int64"}),
    "examples": _take({**_TEXT, "examples": ["a", "b"]}),
    "annotations": _take({**_TEXT, "readOnly": True, "deprecated": True, "$comment": "hm", "x-order": 1}),
    "content": _take({**_TEXT, "contentEncoding": "base64", "contentMediaType": "image/png"}),
    "dialect": {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://e.com/a", **_take(_TEXT)},
    "enum": _take({"type": "string", "enum": ["a", "b"]}),
    "enum without type": _take({"enum": ["a", "b"]}),
    "enum of numbers": _take({"enum": [1, 2.5]}),
    "enum of booleans": _take({"enum": [True]}),
    "enum with null": _take({"enum": ["a", None]}),
    "enum with null and type": _take({"type": "string", "enum": ["a", None]}),
    "enum of several types": _take({"enum": ["a", 1, True, None]}, required=False),
    "enum of a list of types": _take({"type": ["string", "null"], "enum": ["a", None]}, required=False),
    "const": _take({"const": "a"}),
    "const null": _take({"const": None}),
    "const and type": _take({"const": 3, "type": "integer"}, required=False),
    "type or null": _take({"type": ["string", "null"], "minLength": 2}),
    "type or null, optional": _take({"type": ["string", "null"], "default": None}, required=False),
    "several types": _take({"type": ["string", "integer"], "minLength": 2, "minimum": 1, "description": "Either."}),
    "list of one type": _take({"type": ["string"]}),
    "any of": _take({"anyOf": [_TEXT, _NUMBER], "description": "Either."}),
    "any of, or null": _take({"anyOf": [_TEXT, {"type": "null"}], "default": None}, required=False),
    "any of, or null, with a default": _take({"anyOf": [_TEXT, {"type": "null"}], "default": "a"}, required=False),
    "any of, nested": _take({"anyOf": [{"anyOf": [_TEXT, _NUMBER]}, {"type": "null"}]}),
    "any of beside a type": _take({"type": "string", "anyOf": [{"minLength": 3}, {"format": "uri"}]}),
    "any of of rules for an object": _take(
        {
            "type": "object",
            "properties": {"a": _TEXT, "b": _TEXT},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }
    ),
    "one of": _take({"oneOf": [_CAT, _DOG], "discriminator": {"propertyName": "kind"}}),
    "one of beside any of": _take({"anyOf": [_TEXT, _NUMBER], "oneOf": [{"const": "a"}, {"const": 1}]}),
    "all of one": {
        **_take({"allOf": [{"$ref": "#/$defs/C"}], "description": "That."}),
        "$defs": {"C": _CAT},
    },
    "by reference": _refer({"C": _CAT}, description="That."),
    "by draft 4's reference": _take({"$ref": "#/definitions/C"}, definitions={"C": _CAT}),
    "list of objects": _take({"type": "array", "items": _CAT}),
    "object in an object": _take(_CAT, required=False),
    "object without type": _take({"properties": {"a": _TEXT}}),
    "object or null": _take({"type": ["object", "null"], "properties": {"a": _TEXT}}),
    "no type at the root": {"properties": {"x": _TEXT}},
    "null at the root": {"type": ["object", "null"], "properties": {"x": _TEXT}},
    "ten levels": _nest(10),
}
# What is several objects at its root.
CHOICES: Mapping[str, Schema] = {
    "any of what is required": {
        "type": "object",
        "properties": {"route": _TEXT, "file": _TEXT},
        "anyOf": [{"required": ["route"]}, {"required": ["file"]}],
    },
    "one of what is required": {
        "type": "object",
        "properties": {"route": _TEXT, "file": _TEXT},
        "oneOf": [{"required": ["route"]}, {"required": ["file"]}],
        "additionalProperties": False,
    },
    "one of objects": {"type": "object", "oneOf": [_CAT, _DOG]},
    "one of references": {
        "oneOf": [{"$ref": "#/$defs/C"}, {"$ref": "#/$defs/D"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/C"}},
        "$defs": {"C": _CAT, "D": _DOG},
    },
    "all of": {"allOf": [_take(_TEXT), {"type": "object", "properties": {"y": _NUMBER}, "required": ["y"]}]},
    "all of, with a choice": {"allOf": [_take(_TEXT), {"anyOf": [_CAT, _DOG]}]},
    "a condition": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "x": _TEXT},
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["x"]},
    },
    "what goes with another": {
        "type": "object",
        "properties": {"a": _TEXT, "b": _TEXT},
        "dependentRequired": {"a": ["b"]},
        "dependentSchemas": {"b": {"properties": {"c": _TEXT}, "required": ["c"]}},
    },
    "not both": {"type": "object", "properties": {"a": _TEXT, "b": _TEXT}, "not": {"required": ["a", "b"]}},
    "whole objects": {"type": "object", "enum": [{"a": 1}, {"a": 2, "b": "x"}]},
    "one whole object": {"type": "object", "const": {"a": 1}},
    "reference": {"$ref": "#/$defs/C", "$defs": {"C": _CAT}},
}
# What refers to itself.
RECURSIVE: Mapping[str, Schema] = {
    "a node": _refer({"N": _NODE}),
    "a node, optional and described": _refer({"N": _NODE}, required=False, description="The first."),
    "the root": {"type": "object", "properties": {"value": _NUMBER, "above": {"$ref": "#"}}},
    "a reference at the root": {"$ref": "#/$defs/N", "$defs": {"N": _NODE}},
    "two that hold each other": _refer(
        {
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
            "B": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}},
        }
    ),
}
# What strict modes do not have.
LOOSE: Mapping[str, Schema] = {
    "any value": _take({}),
    "true": _take(True),
    "free keys": _take({"type": "object", "additionalProperties": _TEXT}),
    "free keys at the root": _take(_TEXT, additionalProperties=True),
    "an object of anything": _take({"type": "object"}),
    "a list of anything": _take({"type": "array"}),
    "items true": _take({"type": "array", "items": True}),
    "items false": _take({"type": "array", "items": False}),
    "list items": _take({"type": "array", "items": [_TEXT, _NUMBER]}),
    "prefix items": _take({"type": "array", "prefixItems": [_TEXT, _NUMBER]}),
    "true among options": _take({"anyOf": [_TEXT, True]}),
    "not": _take({"type": "string", "not": {"const": "a"}}),
    "all of several": _take({"allOf": [{"type": "string", "minLength": 1}, {"pattern": "a"}]}),
    "pattern properties": _take(_TEXT, patternProperties={"^x-": _TEXT}),
    "property names": _take({"type": "object", "properties": {}, "propertyNames": {"pattern": "a"}}),
    "a condition inside": _take({"type": "string", "if": {"const": "a"}, "then": {"const": "b"}}),
    "contains": _take({"type": "array", "items": _TEXT, "contains": {"const": "a"}}),
    "enum of objects": _take({"enum": [{"a": 1}, {"a": 2}]}),
    "enum of nothing": _take({"type": "string", "enum": []}),
    "const of a list": _take({"const": [1, 2]}),
    "nothing fits": _take({"anyOf": [_TEXT], "oneOf": [_NUMBER]}),
    "eleven levels": _nest(11),
    "many values": _take({"type": "integer", "enum": list(range(1001))}),
    "long values": _take({"type": "string", "enum": [f"{number:0100}" for number in range(251)]}),
    "many properties": {"type": "object", "properties": {f"p{number}": _TEXT for number in range(5001)}},
    "long names": {"type": "object", "properties": {f"{number:0200}": _TEXT for number in range(601)}},
}
# What Anthropic's strict mode alone lacks, besides recursive schemas.
WIDE: Mapping[str, Schema] = {
    "many optional": {"type": "object", "properties": {f"p{number}": _TEXT for number in range(25)}},
    "many choices of types": {
        "type": "object",
        "properties": {f"p{number}": {"type": ["string", "integer"]} for number in range(17)},
        "required": [f"p{number}" for number in range(17)],
    },
}
