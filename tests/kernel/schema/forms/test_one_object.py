"""Arguments that are a choice of several objects are listed as one object, and the choice in words."""

import json
from typing import Any

import pytest

from sidecall.kernel.schema.forms.one_object import describe_root, join_root

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
ROUTE = {"route": TEXT, "file": TEXT}
CAT = {
    "type": "object",
    "properties": {"kind": {"const": "cat", "type": "string"}, "lives": NUMBER, "name": TEXT},
    "required": ["kind", "lives"],
}
DOG = {
    "type": "object",
    "properties": {"kind": {"const": "dog", "type": "string"}, "tail": {"type": "boolean"}},
    "required": ["kind"],
}
KIND = {"type": "string", "enum": ["cat", "dog"]}


def _choose(keyword: str, *required: list[str], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": ROUTE, keyword: [{"required": names} for names in required], **more}


def _expect(properties: dict[str, Any], required: list[str], said: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        **({"description": said} if said else {}),
    }


@pytest.mark.parametrize(
    ("schema", "properties", "required", "said"),
    [
        pytest.param(_choose("anyOf", ["route"], ["file"]), ROUTE, [], "Send route or file.", id="any"),
        pytest.param(_choose("oneOf", ["route"], ["file"]), ROUTE, [], "Send route or file, not both.", id="one"),
        pytest.param(
            _choose("oneOf", ["route"], ["file"], ["day"]),
            {**ROUTE, "day": {}},
            [],
            "Send only one of route, file and day.",
            id="one of three, one of them not described",
        ),
        pytest.param(
            _choose("anyOf", ["route", "day"], ["file"], properties={**ROUTE, "day": TEXT}),
            {**ROUTE, "day": TEXT},
            [],
            "Send route and day, or file.",
            id="several of a branch",
        ),
        pytest.param(
            _choose("anyOf", ["day", "route"], ["day", "file"], required=["day"]),
            {**ROUTE, "day": {}},
            ["day"],
            "Send route or file.",
            id="what all require is required",
        ),
        pytest.param(
            _choose("anyOf", ["route"], ["route", "file"]),
            ROUTE,
            ["route"],
            "Send route, or route and file.",
            id="more",
        ),
        pytest.param(_choose("anyOf", ["route"], []), ROUTE, [], "", id="no choice: one requires nothing"),
        pytest.param(
            {"oneOf": [CAT, DOG]},
            {"kind": KIND, "lives": NUMBER, "name": TEXT, "tail": {"type": "boolean"}},
            ["kind"],
            'Send kind "cat" and lives (optional: name), or kind "dog" (optional: tail).',
            id="told apart by a tag",
        ),
        pytest.param(
            {
                "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
                "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat"}},
                "$defs": {"Cat": CAT, "Dog": {"$ref": "#/$defs/Wolf"}, "Wolf": DOG},
            },
            {"kind": KIND, "lives": NUMBER, "name": TEXT, "tail": {"type": "boolean"}},
            ["kind"],
            'Send kind "cat" and lives (optional: name), or kind "dog" (optional: tail).',
            id="by reference",
        ),
        pytest.param(
            {"anyOf": [{"properties": {"a": TEXT}}, {"properties": {"a": NUMBER}}, {"type": "null"}]},
            {"a": {"anyOf": [TEXT, NUMBER]}},
            [],
            "",
            id="one property of several types",
        ),
        pytest.param(
            {"properties": {"a": TEXT}, "anyOf": [{"properties": {"a": {"const": "x"}}}, {"required": ["b"]}]},
            {"a": TEXT, "b": {}},
            [],
            'Send a "x" or b.',
            id="only one branch narrows a property",
        ),
        pytest.param(
            {
                "allOf": [
                    {"properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
                    {"properties": {"a": {"type": "number", "minimum": 3, "maximum": 9}, "b": TEXT}, "required": ["b"]},
                ]
            },
            {"a": {"type": "integer", "minimum": 3, "maximum": 9}, "b": TEXT},
            ["a", "b"],
            "",
            id="all of them",
        ),
        pytest.param(
            {"allOf": [{"properties": {"a": {"pattern": "^x"}}}, {"properties": {"a": {"pattern": "y$"}}}]},
            {"a": {"allOf": [{"pattern": "^x"}, {"pattern": "y$"}]}},
            [],
            "",
            id="rules that do not merge both hold",
        ),
        pytest.param(
            {"allOf": [_choose("anyOf", ["route"], ["file"]), {"properties": {"day": TEXT}, "required": ["day"]}]},
            {**ROUTE, "day": TEXT},
            ["day"],
            "Send route or file.",
            id="a choice inside",
        ),
        pytest.param(
            {"anyOf": [{"required": ["a"], "oneOf": [{"required": ["b"]}, {"required": ["c"]}]}, {"required": ["d"]}]},
            {"a": {}, "b": {}, "c": {}, "d": {}},
            [],
            "Send a (b or c, not both), or d.",
            id="a choice in a choice",
        ),
        pytest.param(
            {
                "properties": {"kind": KIND, "lives": NUMBER, "tail": TEXT},
                "if": {"properties": {"kind": {"const": "cat"}}},
                "then": {"required": ["lives"]},
                "else": {"required": ["tail"]},
            },
            {"kind": KIND, "lives": NUMBER, "tail": TEXT},
            [],
            'Send lives if kind is "cat", otherwise tail.',
            id="a condition",
        ),
        pytest.param(
            {
                "properties": {"kind": KIND, "lives": NUMBER, "tail": TEXT},
                "allOf": [
                    {"if": {"properties": {"kind": {"const": "dog"}}}, "then": {"required": ["tail"]}},
                    {"if": {"properties": {"kind": {"const": "cat"}}}, "then": {"required": ["lives"]}},
                ],
            },
            {"kind": KIND, "lives": NUMBER, "tail": TEXT},
            [],
            'Send tail if kind is "dog". Send lives if kind is "cat".',
            id="several conditions, none of which takes values away",
        ),
        pytest.param(
            {"properties": ROUTE, "if": {"not": {"required": ["route"]}}, "then": {"required": ["file"]}},
            ROUTE,
            [],
            "Send file if no route is sent.",
            id="a condition of what is not there",
        ),
        pytest.param(
            {"properties": ROUTE, "if": {"required": ["route"]}, "then": False}, ROUTE, [], "Send no route.", id="never"
        ),
        pytest.param(
            {
                "anyOf": [
                    {"properties": {"id": {**TEXT, "description": "An order."}}, "required": ["id"]},
                    {"properties": {"id": {**TEXT, "description": "A mail."}, "day": TEXT}, "required": ["id", "day"]},
                ]
            },
            {"id": {**TEXT, "description": "An order. / A mail."}, "day": TEXT},
            ["id"],
            "Send id, or id and day.",
            id="one property that means two things",
        ),
        pytest.param(
            {
                "oneOf": [
                    {"properties": {"by": {"const": "order", "title": "By"}}, "required": ["by"]},
                    {"properties": {"by": {"const": "mail"}, "mail": TEXT}, "required": ["by", "mail"]},
                ]
            },
            {"by": {"enum": ["order", "mail"]}, "mail": TEXT},
            ["by"],
            'Send by "order", or by "mail" and mail.',
            id="titles do not count",
        ),
        pytest.param(
            {
                "properties": {"a": TEXT, "b": TEXT},
                "dependentRequired": {"a": ["b"]},
                "dependentSchemas": {"b": {"properties": {"c": NUMBER}, "required": ["c"]}},
            },
            {"a": TEXT, "b": TEXT, "c": NUMBER},
            [],
            "Send b if a is sent. Send c if b is sent.",
            id="what goes with another",
        ),
        pytest.param(
            {"properties": ROUTE, "not": {"required": ["route", "file"]}},
            ROUTE,
            [],
            "Send no route together with file.",
            id="not both",
        ),
        pytest.param(
            {"enum": [{"a": 1}, {"a": 2, "b": "x"}]},
            {"a": {"enum": [1, 2]}, "b": {"const": "x"}},
            ["a"],
            'Send {"a": 1} or {"a": 2, "b": "x"}.',
            id="whole objects",
        ),
        pytest.param({"const": {"a": 1}}, {"a": {"const": 1}}, ["a"], "", id="one whole object"),
        pytest.param({"anyOf": [True, {"required": ["a"]}, False]}, {"a": {}}, [], "", id="true and false"),
        pytest.param({"type": ["object", "null"], "properties": ROUTE}, ROUTE, [], "", id="or null"),
        pytest.param({"type": ["object"]}, {}, [], "", id="a list of one type"),
        pytest.param({"properties": ROUTE}, ROUTE, [], "", id="no type"),
        pytest.param({}, {}, [], "", id="nothing"),
    ],
)
def test_a_choice_becomes_one_object(
    schema: dict[str, Any], properties: dict[str, Any], required: list[str], said: str
) -> None:
    """It has the properties of all branches, requires what all do, and says the choice; the schema itself stays."""
    before = json.dumps(schema)

    assert join_root(schema) == _expect(properties, required, said)
    assert describe_root(schema) == said
    assert json.dumps(schema) == before


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"anyOf": [TEXT, NUMBER]}}, "additionalProperties": False},
        {"type": "object", "properties": {}, "description": "Said."},
        {"type": "string", "anyOf": [{"minLength": 1}]},
    ],
)
def test_one_object_is_left_as_it_is(schema: dict[str, Any]) -> None:
    """A choice inside of a property is none of the root."""
    assert join_root(schema) is schema


def test_closed_branches_make_a_closed_object() -> None:
    """And one that is open an open one."""
    closed = {"properties": {"a": TEXT}, "required": ["a"], "additionalProperties": False}
    other = {"properties": {"b": TEXT}, "required": ["b"], "additionalProperties": False}

    assert join_root({"anyOf": [closed, other]})["additionalProperties"] is False
    assert "additionalProperties" not in join_root({"anyOf": [closed, {**other, "additionalProperties": True}]})
    assert join_root({"anyOf": [closed], "unevaluatedProperties": False})["additionalProperties"] is False


def test_what_is_said_of_the_root_stays_before_the_choice() -> None:
    """And is no part of what the tool's description is told."""
    schema = _choose("anyOf", ["route"], ["file"], description="Where to.")

    assert join_root(schema)["description"] == "Where to. Send route or file."
    assert describe_root(schema) == "Send route or file."


def test_references_into_a_branch_still_lead_somewhere() -> None:
    """A recursive branch stays among the definitions."""
    branch = {"type": "object", "properties": {"parts": {"type": "array", "items": {"$ref": "#/anyOf/0"}}}}
    moved = {"type": "object", "properties": {"parts": {"type": "array", "items": {"$ref": "#/$defs/joined_0"}}}}

    assert join_root({"anyOf": [branch, {"required": ["name"]}]}) == {
        "type": "object",
        "properties": {**moved["properties"], "name": {}},
        "description": "Send optionally parts, or name.",
        "$defs": {"joined_0": moved},
    }


def test_a_recursive_root_is_one_object() -> None:
    """Its definition stays, and itself takes the place of the reference."""
    node = {"type": "object", "properties": {"below": {"$ref": "#/$defs/Node"}}}

    assert join_root({"$ref": "#/$defs/Node", "$defs": {"Node": node}}) == {**node, "$defs": {"Node": node}}


def test_a_long_choice_is_cut() -> None:
    """Descriptions have a limit."""
    branches = [{"required": [f"argument_number_{number}", "day"]} for number in range(100)]
    conditions = [{"if": {"required": [f"a{number}"]}, "then": {"required": ["day"]}} for number in range(100)]

    assert len(describe_root({"anyOf": branches})) < 610
    assert len(describe_root({"allOf": conditions})) < 610
