"""Each rule of JSON Schema that is broken is said in words that a model can act on."""

from typing import Any

import pytest

from sidecall import ToolMessage, tool
from tests.kit.calls import run

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
PAIR = {"a": WHOLE, "b": WHOLE}
WAYS = {"route": TEXT, "file": TEXT}


def _object(**rules: Any) -> dict[str, Any]:
    return {"type": "object", **rules}


def _array(**rules: Any) -> dict[str, Any]:
    return {"type": "array", **rules}


# The schema of `p`, what is sent for it, and what is answered.
RULES: dict[str, tuple[Any, Any, str]] = {
    "type": (WHOLE, "x", "p: Input should be an integer"),
    "types": ({"type": ["integer", "string"]}, [], "p: Input should be an integer or string"),
    "enum": ({"enum": ["a", "b"]}, 1, 'p: Input should be one of "a", "b"'),
    "enum of nothing": ({"enum": []}, 1, "p: Input should be left out, since nothing may be sent here"),
    "const": ({"const": 3}, 4, "p: Input should be 3"),
    "multipleOf": ({"multipleOf": 3}, 4, "p: Input should be a number, a multiple of 3"),
    "minimum": ({"minimum": 3}, 2, "p: Input should be a number, at least 3"),
    "exclusiveMaximum": ({"exclusiveMaximum": 3}, 3, "p: Input should be a number, less than 3"),
    "minLength": ({"minLength": 3}, "a", "p: Input should be a string, at least 3 characters"),
    "both lengths": ({"minLength": 3, "maxLength": 3}, "a", "p: Input should be a string, exactly 3 characters"),
    "pattern": ({"pattern": "^a"}, "b", "p: Input should be a string, matching ^a"),
    "format": ({"format": "date"}, "b", "p: Input should be a date as YYYY-MM-DD, such as 2026-03-14"),
    "format regex": (
        {"type": "string", "format": "regex"},
        "(",
        "p: Input should be a regular expression, such as ^[a-z]+$",
    ),
    "items": ({"items": WHOLE}, ["a"], "p[0]: Input should be an integer"),
    "items false": (_array(items=False), ["a"], "p: Input should be an array, at most 0 items"),
    "items false after others": (
        _array(prefixItems=[WHOLE, TEXT], items=False),
        [1, "b", 3],
        "p: Input should be an array of integer, then string, at most 2 items",
    ),
    "prefixItems": (_array(prefixItems=[WHOLE, TEXT]), ["a"], "p[0]: Input should be an integer"),
    "maxItems": (
        _array(items={"type": "integer", "minimum": 0}, maxItems=3),
        [1, 2, 3, 4],
        "p: Input should be an array of integer, at most 3 items, each at least 0",
    ),
    "uniqueItems": ({"uniqueItems": True}, [1, 1], "p: Input should be an array without repeated items"),
    "contains": (
        _array(contains=WHOLE),
        ["a"],
        "p: Input should be an array, at least 1 item of which is an integer",
    ),
    "minContains": (
        _array(contains=WHOLE, minContains=2),
        [1],
        "p: Input should be an array, at least 2 items of which are an integer",
    ),
    "maxContains": (
        _array(contains=WHOLE, maxContains=1),
        [1, 2],
        "p: Input should be an array, exactly 1 item of which is an integer",
    ),
    "unevaluatedItems": (
        _array(prefixItems=[WHOLE], unevaluatedItems=False),
        [1, 2],
        "p: Input should be an array of integer, at most 1 item",
    ),
    "unevaluatedItems of a type": (
        _array(prefixItems=[WHOLE], unevaluatedItems=TEXT),
        [1, 2],
        "p: Input should be an array of integer, then any number of string",
    ),
    "minProperties": ({"minProperties": 2}, {"a": 1}, "p: Input should be an object, at least 2 keys"),
    "maxProperties": (_object(maxProperties=1), {"a": 1, "b": 2}, "p: Input should be an object, at most 1 key"),
    "propertyNames": (
        _object(propertyNames={"pattern": "^a"}),
        {"b": 1},
        "p.b: the key has to be a string, matching ^a",
    ),
    "propertyNames, length": (
        _object(propertyNames={"maxLength": 3}),
        {"bbbb": 1},
        "p.bbbb: the key has to be a string, at most 3 characters",
    ),
    "patternProperties": (_object(patternProperties={"^a": WHOLE}), {"ab": "x"}, "p.ab: Input should be an integer"),
    "patternProperties only": (
        _object(patternProperties={"^a": WHOLE}, additionalProperties=False),
        {"b": 1},
        "p.b: There is no such argument; the arguments are: any that match ^a",
    ),
    "additionalProperties": (_object(additionalProperties=WHOLE), {"b": "x"}, "p.b: Input should be an integer"),
    "no properties at all": (
        _object(additionalProperties=False),
        {"b": 1},
        "p.b: There is no such argument; the arguments are: none",
    ),
    "unevaluatedProperties": (
        _object(allOf=[{"properties": {"a": WHOLE}}], unevaluatedProperties=False),
        {"a": 1, "z": 2},
        "p.z: There is no such argument; the arguments are: a",
    ),
    "unevaluatedProperties of a type": (
        _object(properties={"a": WHOLE}, unevaluatedProperties=TEXT),
        {"a": 1, "z": 2},
        "p.z: Input should be a string",
    ),
    "dependentRequired": (
        _object(properties=PAIR, dependentRequired={"a": ["b"]}),
        {"a": 1},
        "p.b: Field required where a is sent (integer)",
    ),
    "dependentSchemas": (
        _object(properties=PAIR, dependentSchemas={"a": {"properties": {"b": {"minimum": 3}}}}),
        {"a": 1, "b": 1},
        "p.b: Input should be an integer, at least 3",
    ),
    "dependentSchemas false": (
        _object(properties=PAIR, dependentSchemas={"a": False}),
        {"a": 1},
        "p.a: There is no such argument; the arguments are: b",
    ),
    "then": (
        _object(properties=PAIR, **{"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
        {"a": 1},
        "p.b: Field required (integer)",
    ),
    "else": (
        _object(properties=PAIR, **{"if": {"required": ["a"]}, "else": {"properties": {"b": {"minimum": 3}}}}),
        {"b": 1},
        "p.b: Input should be an integer, at least 3",
    ),
    "then false": (
        _object(properties=PAIR, **{"if": {"required": ["a"]}, "then": False}),
        {"a": 1},
        "p: Input should be an object {a?, b?}, without a",
    ),
    "not a value": ({"type": "string", "not": {"const": "root"}}, "root", 'p: Input should be a string, not "root"'),
    "not some values": (
        {"type": "string", "not": {"enum": ["root", "admin"]}},
        "root",
        'p: Input should be a string, none of "root", "admin"',
    ),
    "not a pattern": (
        {"type": "string", "not": {"pattern": "^/"}},
        "/x",
        "p: Input should be a string, not matching ^/",
    ),
    "not a multiple": (
        {"type": "integer", "not": {"multipleOf": 2}},
        4,
        "p: Input should be an integer, not a multiple of 2",
    ),
    "not a type": ({"not": WHOLE}, 3, "p: Input should be anything but an integer"),
    "not one of two": (
        {"not": {"anyOf": [WHOLE, {"const": "x"}]}},
        3,
        'p: Input should be anything but an integer or "x"',
    ),
    "not together": (
        _object(properties=PAIR, **{"not": {"required": ["a", "b"]}}),
        {"a": 1, "b": 2},
        "p: Input should be an object {a?, b?}, without a and b together",
    ),
    "not anything": ({"not": {}}, 3, "p: There is no such argument; the arguments are: none"),
    "one of two names": (
        _object(properties=WAYS, anyOf=[{"required": ["route"]}, {"required": ["file"]}]),
        {},
        "p: send route or file",
    ),
    "one of some names": (
        _object(properties=PAIR | WAYS, anyOf=[{"required": ["a", "b"]}, {"required": ["file"]}]),
        {"a": 1},
        "p: send a and b, or file",
    ),
    "exactly one name": (
        _object(properties=WAYS, oneOf=[{"required": ["route"]}, {"required": ["file"]}]),
        {"route": "a", "file": "b"},
        "p: send route or file, not both",
    ),
    "exactly one schema": (
        {"oneOf": [{"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}]},
        "ab",
        "p: Input should be only one of these: a string, matching a; a string, matching b",
    ),
    "anyOf": (
        {"anyOf": [{"type": "integer", "minimum": 10}, {"type": "integer", "maximum": 2}]},
        5,
        "p: Input should be an integer, at least 10 or integer, at most 2",
    ),
    "allOf": ({"allOf": [WHOLE, {"minimum": 3}]}, 1, "p: Input should be an integer, at least 3"),
    "allOf of objects": (
        {"allOf": [_object(properties={"a": WHOLE}), {"properties": {"b": {"minLength": 2}}}]},
        {"a": "x", "b": ""},
        "p.a: Input should be an integer\np.b: Input should be a string, at least 2 characters",
    ),
}
# Where the schema may stand: how a schema is put there, how a value, and what `p` is then.
PLACES: dict[str, Any] = {
    "alone": (lambda schema: {"p": schema}, lambda value: value, "p"),
    "in a list": (lambda schema: {"p": {"type": "array", "items": schema}}, lambda value: [value], "p[0]"),
    "under a key": (
        lambda schema: {"p": {"type": "object", "additionalProperties": schema}},
        lambda value: {"k": value},
        "p.k",
    ),
    "or null": (lambda schema: {"p": {"anyOf": [schema, {"type": "null"}]}}, lambda value: value, "p"),
    "by a reference": (lambda _: {"p": {"$ref": "#/$defs/X"}}, lambda value: value, "p"),
    "joined": (lambda schema: {"p": {"allOf": [schema, {"title": "Joined"}]}}, lambda value: value, "p"),
}


async def refuse(schema: dict[str, Any], args: dict[str, Any]) -> ToolMessage:
    """Call a tool that takes what a schema says."""

    @tool(args_schema=schema)
    def take(**given: Any) -> Any:
        """Take."""
        return given

    return await run(take, args)


# What is said of a rule where its schema stands in a place that has other words for it.
ELSEWHERE = {
    ("dependentSchemas false", "joined"): 'p.a: the key has to be a string, not "a"',
    ("not anything", "in a list"): "p: Input should be an array, at most 0 items",
    ("not anything", "under a key"): "p.k: Input should be left out, since nothing may be sent here",
    ("not anything", "by a reference"): "p: Input should be left out, since nothing may be sent here",
    ("not anything", "joined"): "p: Input should be left out, since nothing may be sent here",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rule", RULES)
async def test_a_broken_rule_is_said(rule: str, place: str) -> None:
    """Wherever its schema stands."""
    schema, sent, text = RULES[rule]
    put, wrap, where = PLACES[place]
    if place == "or null" and schema == {"not": {}}:
        return  # Null is all that is left, which is said.

    message = await refuse({"properties": put(schema), "$defs": {"X": schema}}, {"p": wrap(sent)})

    expected = "\n".join(where + line.removeprefix("p") for line in text.split("\n"))
    assert message.content == ELSEWHERE.get((rule, place), expected)
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


@pytest.mark.parametrize(
    ("rules", "sent", "text"),
    [
        ({"anyOf": [{"required": ["route"]}, {"required": ["file"]}]}, {}, "arguments: send route or file"),
        (
            {"oneOf": [{"required": ["route"]}, {"required": ["file"]}]},
            {"route": "a", "file": "b"},
            "arguments: send route or file, not both",
        ),
        (
            {
                "anyOf": [
                    {"properties": {"by": WHOLE}, "required": ["by"]},
                    {"properties": {"to": TEXT}, "required": ["to"]},
                ]
            },
            {"by": "x"},
            "by: Input should be an integer",
        ),
        (
            {
                "anyOf": [
                    {"properties": {"by": WHOLE}, "required": ["by"]},
                    {"properties": {"to": TEXT}, "required": ["to"]},
                ]
            },
            {},
            "arguments: send either {by, route?, file?} or {to, route?, file?}",
        ),
        ({"minProperties": 1}, {}, "arguments: Input should be an object {route?, file?}, at least 1 key"),
        (
            {"dependentRequired": {"file": ["route"]}},
            {"file": "a"},
            "route: Field required where file is sent (string)",
        ),
        (
            {"not": {"required": ["route", "file"]}},
            {"route": "a", "file": "b"},
            "arguments: Input should be an object {route?, file?}, without route and file together",
        ),
    ],
)
async def test_rules_of_the_arguments_as_a_whole_are_said(rules: Any, sent: dict[str, Any], text: str) -> None:
    """Where an object at the root has them."""
    assert (await refuse({"type": "object", "properties": WAYS, **rules}, sent)).content == text


async def test_the_members_of_a_union_without_listed_tags_are_shown() -> None:
    """As documents of OpenAPI have them, whose mapping is no part of JSON Schema."""
    cat = {"type": "object", "properties": {"kind": TEXT, "lives": WHOLE}, "required": ["kind", "lives"]}
    dog = {"type": "object", "properties": {"kind": TEXT, "bark": TEXT}, "required": ["kind", "bark"]}
    pet = {"oneOf": [cat, dog], "discriminator": {"propertyName": "kind"}}

    message = await refuse({"properties": {"pet": pet}}, {"pet": {"kind": "bird"}})

    assert message.content == "pet: send either {kind, lives} or {kind, bark}"
