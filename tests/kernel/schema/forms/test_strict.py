"""A tool is said in OpenAI's strict form, or the obstacles are named."""

from functools import reduce
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, HttpUrl

from sidecall import BaseTool, tool
from sidecall.kernel.schema.forms.strict import find_strict_obstacles, to_strict

OPEN = "strict mode has no objects with free keys (dict, **kwargs)"
INT_OR_NULL = [{"type": "integer"}, {"type": "null"}]
CLASH = "allOf and what stands beside it contradict each other in `type`"
DEEP = "the schema is nested too deeply; make it flatter"
COMBINED = "strict mode has neither allOf nor not nor patternProperties"
UNTYPED = "strict mode needs a type (Any or no annotation)"


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]


class Node(BaseModel):
    """A node."""

    value: int
    children: list["Node"] = []
    above: "Node | None" = None


class Family(BaseModel):
    """A node whose reference has a description beside it."""

    parent: "Family" = Field(description="One above.")


def _flat(annotation: Any, *default: Any) -> dict[str, Any]:
    def take(x: Any) -> None:
        """Take."""

    take.__annotations__["x"] = annotation
    take.__defaults__ = default or None
    offered: BaseTool = tool(take)
    return offered.compiled.args_schema.flat


@pytest.mark.parametrize(
    ("annotation", "default", "expected"),
    [
        pytest.param(int, (), {"type": "integer"}, id="required"),
        pytest.param(int, (5,), {"anyOf": INT_OR_NULL, "description": "Default: 5."}, id="optional"),
        pytest.param(
            Annotated[int, "How many"], (5,), {"anyOf": INT_OR_NULL, "description": "How many. Default: 5."}, id="said"
        ),
        pytest.param(
            Annotated[int, "5 by default"], (5,), {"anyOf": INT_OR_NULL, "description": "5 by default"}, id="not twice"
        ),
        pytest.param(
            Annotated[str, "Who?"],
            ("x",),
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": 'Who? Default: "x".'},
            id="a sentence already",
        ),
        pytest.param(int | None, (None,), {"anyOf": INT_OR_NULL}, id="null already, and no default to tell"),
        pytest.param(
            int | str,
            (1,),
            {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}], "description": "Default: 1."},
            id="one anyOf, not two",
        ),
        pytest.param(None, (None,), {"type": "null"}, id="nothing but null"),
        pytest.param(
            set[int],
            (),
            {"items": {"type": "integer"}, "type": "array", "description": "Items are unique."},
            id="refused keyword becomes text",
        ),
        pytest.param(
            Annotated[Cat | Dog, Field(discriminator="kind")],
            (),
            {
                "anyOf": [
                    {
                        "description": "A cat.",
                        "properties": {
                            "kind": {"const": "cat", "type": "string"},
                            "lives": {"anyOf": INT_OR_NULL, "description": "Default: 9."},
                        },
                        "required": ["kind", "lives"],
                        "type": "object",
                        "additionalProperties": False,
                    },
                    {
                        "description": "A dog.",
                        "properties": {"kind": {"const": "dog", "type": "string"}},
                        "required": ["kind"],
                        "type": "object",
                        "additionalProperties": False,
                    },
                ]
            },
            id="discriminated union",
        ),
    ],
)
def test_a_parameter_is_said_strictly(annotation: Any, default: tuple[Any, ...], expected: dict[str, Any]) -> None:
    """Every property is required, optional ones may be null, objects are closed at every depth."""
    schema = _flat(annotation, *default)

    assert find_strict_obstacles(schema) == []
    assert to_strict(schema) == {
        "type": "object",
        "properties": {"x": expected},
        "required": ["x"],
        "additionalProperties": False,
    }


def test_a_recursive_model_is_closed_in_its_definitions() -> None:
    """References are allowed in strict mode."""
    assert to_strict(_flat(Node))["$defs"] == {
        "Node": {
            "description": "A node.",
            "properties": {
                "value": {"type": "integer"},
                "children": {
                    "anyOf": [{"items": {"$ref": "#/$defs/Node"}, "type": "array"}, {"type": "null"}],
                    "description": "Default: [].",
                },
                "above": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            },
            "required": ["value", "children", "above"],
            "type": "object",
            "additionalProperties": False,
        }
    }


def test_nothing_stands_beside_a_reference() -> None:
    """OpenAI answers 400 to a reference with a description."""
    parent = to_strict(_flat(Family))["$defs"]["Family"]["properties"]["parent"]

    assert parent.keys() == {"$ref"} or "$ref" not in parent


def test_a_tool_without_parameters_is_closed_too() -> None:
    """An empty object has an empty list of required properties."""
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    assert [to_strict({}), to_strict({"type": "object"}), to_strict({"type": ["object"]})] == [closed, closed, closed]
    assert to_strict({"type": "object", "properties": {}}) == closed


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (dict[str, int], [f"x: {OPEN}"]),
        (list[dict[str, int]], [f"x[]: {OPEN}"]),
        (Any, [f"x: {UNTYPED}"]),
        (list, [f"x[]: {UNTYPED}"]),
        (tuple[int, str], ["x: strict mode has no tuples; use a list or a model"]),
    ],
)
def test_an_obstacle_is_named_with_its_place(annotation: Any, expected: list[str]) -> None:
    """The author learns what to write instead."""
    assert find_strict_obstacles(_flat(annotation)) == expected


def test_a_format_that_strict_mode_lacks_is_an_obstacle_or_gone() -> None:
    """OpenAI answers 400 to `"format": "uri"`."""
    schema = _flat(HttpUrl)

    assert find_strict_obstacles(schema) or "format" not in to_strict(schema)["properties"]["x"]


def test_free_keywords_are_an_obstacle() -> None:
    """Two stars are additionalProperties."""

    @tool
    def take(**more: int) -> None:
        """Take."""

    assert find_strict_obstacles(take.compiled.args_schema.flat) == [f"arguments: {OPEN}"]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"type": "string", "allOf": [{"type": "string"}, {"type": "string"}]}, COMBINED),
        ({"type": "string", "not": {"type": "null"}}, COMBINED),
        ({"type": "object", "properties": {}, "patternProperties": {}}, COMBINED),
        ({"type": "object", "properties": {}, "if": {"type": "string"}}, "strict mode has no if"),
        ({"type": "string", "allOf": [{"type": "null"}]}, CLASH),
        ({"$ref": "#/$defs/Gone"}, "#/$defs/Gone refers to nothing in the schema"),
        ({"$ref": "http://e.com/a"}, "http://e.com/a refers to nothing in the schema"),
        ({"$ref": "#", "minLength": 1}, "strict mode has no minLength beside a reference"),
        ({"type": "array"}, "strict mode needs a type for the items; use list[...]"),
        ({"type": "object", "properties": {"a": True}}, UNTYPED),
    ],
)
def test_keywords_without_a_strict_form_are_obstacles(node: dict[str, Any], expected: str) -> None:
    """They can only come from a schema that the author wrote or extended."""
    schema = {"type": "object", "properties": {"x": node}}

    assert find_strict_obstacles(schema) == [f"x: {expected}"]


def test_a_schema_that_is_nested_too_deeply_is_an_obstacle() -> None:
    """Anyone who wrote it is told before anything walks through it."""
    assert find_strict_obstacles(reduce(lambda inner, _: {"items": inner}, range(101), {})) == [f"arguments: {DEEP}"]


def test_the_schema_itself_is_left_alone() -> None:
    """It is shared by all forms."""
    schema = _flat(Annotated[Cat | Dog, Field(discriminator="kind")])
    before = repr(schema)

    to_strict(schema)

    assert repr(schema) == before


@pytest.mark.parametrize(
    ("rules", "obstacle"),
    [
        ({"required": ["a", "ghost"]}, "arguments: `ghost` is required, and is no property"),
        ({"properties": {"a": {"type": "string", "enum": [1, 2]}}}, "a: no value of the enum has its type"),
        ({"properties": {"a": {"type": "integer", "enum": ["1"]}}}, "a: no value of the enum has its type"),
        ({"properties": {"a": {"type": "boolean", "const": "true"}}}, "a: no value of the enum has its type"),
        (
            {"properties": {"a": {"type": "object", "properties": {}, "required": ["b"]}}},
            "a: `b` is required, and is no property",
        ),
    ],
)
def test_what_no_call_can_meet_is_not_strict(rules: dict[str, Any], obstacle: str) -> None:
    """A closed object takes no other names, and a type no other values."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, **rules}

    assert find_strict_obstacles(schema) == [obstacle]
