"""Anthropic's strict tools get what they refuse in words."""

import datetime
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, HttpUrl

from sidecall import tool
from sidecall.features.provider_formats.anthropic import find_anthropic_obstacles, to_anthropic
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.definitions import render_definitions


@tool
def book(
    nights: Annotated[int, Field(gt=0, le=30)],
    code: Annotated[str, Field(pattern="^[A-Z]+$", min_length=2)],
    stars: Annotated[list[int], Field(min_length=1, max_length=2)],
) -> str:
    """Book a room.

    Args:
        nights: How long.
        code: Which.
        stars: Which class.
    """
    return ""


def test_bounds_stand_in_the_description() -> None:
    """As the `transform_schema` of Anthropic's own library puts them; the server holds them all the same."""
    assert render_definitions([book.compiled], "anthropic", strict=True) == [
        {
            "name": "book",
            "description": "Book a room.",
            "strict": True,
            "input_schema": {
                "type": "object",
                "properties": {
                    "nights": {"type": "integer", "description": "How long.\n\n{exclusiveMinimum: 0, maximum: 30}"},
                    "code": {"type": "string", "description": 'Which.\n\n{minLength: 2, pattern: "^[A-Z]+$"}'},
                    "stars": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "minItems": 1,
                        "description": "Which class.\n\n{maxItems: 2}",
                    },
                },
                "required": ["nights", "code", "stars"],
                "additionalProperties": False,
            },
        }
    ]


class Node(BaseModel):
    """A node."""

    children: list["Node"] = []


@tool
def meet(
    url: HttpUrl,
    place: str | int,
    at: datetime.datetime | None = None,
    minutes: int = 30,
    tags: set[str] | None = None,
) -> str:
    """Meet.

    Args:
        url: Where it is told.
        place: A name or a number.
        at: When.
        minutes: How long.
        tags: Of what kind.
    """
    return ""


def test_optional_parameters_stay_optional() -> None:
    """They are no choice of types, of which the API takes few, and a default is said in words."""
    listed = render_definitions([meet.compiled], "anthropic", strict=True)[0]

    assert listed["strict"] is True
    assert listed["input_schema"] == {
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "format": "uri",
                "description": "Where it is told.\n\n{maxLength: 2083, minLength: 1}",
            },
            "place": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "A name or a number."},
            "at": {"type": "string", "format": "date-time", "description": "When."},
            "minutes": {"type": "integer", "description": "How long. Default: 30."},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Of what kind. Items are unique."},
        },
        "required": ["url", "place"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            {"type": ["string", "integer"], "minLength": 2, "minimum": 1, "description": "Either."},
            {
                "anyOf": [
                    {"type": "string", "description": "{minLength: 2}"},
                    {"type": "integer", "description": "{minimum: 1}"},
                ],
                "description": "Either.",
            },
            id="a list of types",
        ),
        pytest.param({"type": ["string"]}, {"type": "string"}, id="a list of one type"),
        pytest.param({"type": ["string", "null"], "default": None}, {"type": "string"}, id="null is left out"),
        pytest.param(
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": "a"},
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": 'Default: "a".'},
            id="null says something else than nothing",
        ),
        pytest.param(
            {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
            {
                "anyOf": [
                    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
                    {"type": "null"},
                ]
            },
            id="an object or null",
        ),
        pytest.param(
            {"enum": ["a", None], "type": ["string", "null"]}, {"enum": ["a", None]}, id="values say their type"
        ),
        pytest.param({"const": 3}, {"const": 3}, id="one value"),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "minItems": 2},
            {"type": "array", "items": {"type": "string"}, "description": "{minItems: 2}"},
            id="more than one item",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "minItems": 0},
            {"type": "array", "items": {"type": "string"}, "minItems": 0},
            id="no item",
        ),
        pytest.param(
            {"type": "string", "format": "password"},
            {"type": "string", "description": "Format: password."},
            id="a format that it lacks",
        ),
        pytest.param(
            {"type": "string", "examples": ["a"], "x-order": 1, "readOnly": True, "contentEncoding": "base64"},
            {"type": "string", "description": '{examples: ["a"]}'},
            id="what else is said",
        ),
    ],
)
def test_a_parameter_is_said_in_the_apis_subset(given: Schema, expected: Schema) -> None:
    """What it lacks is said in words, or not at all where no model has a use for it."""
    schema = {"type": "object", "properties": {"x": given}}

    assert find_anthropic_obstacles(schema) == []
    assert to_anthropic(schema)["properties"]["x"] == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Node, ["x: refers to itself", "Node.children[]: refers to itself"]),
        (dict[str, int], ["x: strict mode has no objects with free keys (dict, **kwargs)"]),
    ],
)
def test_an_obstacle_is_named(annotation: Any, expected: list[str]) -> None:
    """What keeps a tool from OpenAI's strict form keeps it from Anthropic's, and more does."""

    def take(x: Any) -> None:
        """Take."""

    take.__annotations__["x"] = annotation
    made = tool(take).compiled

    assert find_anthropic_obstacles(made.args_schema.flat) == expected
    assert "strict" not in render_definitions([made], "anthropic", strict=True)[0]
