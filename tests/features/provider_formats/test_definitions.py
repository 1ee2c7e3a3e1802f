"""One tool, in the form of each provider's API."""

import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from sidecall import ToolContext, tool
from sidecall.kernel.schema.forms.definitions import FORMATS, DefinitionFormat, render_definitions


class Place(BaseModel):
    """A place."""

    city: str = Field(min_length=1, description="Its name.")
    country: str = "NL"


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]


class Node(BaseModel):
    """A node."""

    children: list["Node"] = []


@tool(tags=["travel"], metadata={"private": "canary-4711"})
def book(
    place: Place,
    nights: Annotated[int, Field(gt=0, le=30)],
    board: Literal["none", "half"] = "none",
    first: datetime.date | None = None,
    stars: list[int] = Field([3], max_length=2),  # noqa: B008
    *,
    context: ToolContext,
) -> dict[str, int]:
    """Book a room.

    Args:
        place: Where.
        nights: How long.
        board: Which meals.
        first: First night.
        stars: Which class.
        context: What the model is not told.
    """
    return {}


@tool
def ping() -> str:
    """Answer."""
    return "pong"


PARAMETERS = {
    "type": "object",
    "properties": {
        "place": {
            "description": "Where.",
            "properties": {
                "city": {"description": "Its name.", "minLength": 1, "type": "string"},
                "country": {"default": "NL", "type": "string"},
            },
            "required": ["city"],
            "type": "object",
        },
        "nights": {"description": "How long.", "exclusiveMinimum": 0, "maximum": 30, "type": "integer"},
        "board": {"default": "none", "description": "Which meals.", "enum": ["none", "half"], "type": "string"},
        "first": {
            "anyOf": [{"format": "date", "type": "string"}, {"type": "null"}],
            "default": None,
            "description": "First night.",
        },
        "stars": {
            "default": [3],
            "description": "Which class.",
            "items": {"type": "integer"},
            "maxItems": 2,
            "type": "array",
        },
    },
    "required": ["place", "nights"],
}
STRICT_PARAMETERS = {
    "type": "object",
    "properties": {
        "place": {
            "description": "Where.",
            "properties": {
                "city": {"description": "Its name.", "minLength": 1, "type": "string"},
                "country": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": 'Default: "NL".'},
            },
            "required": ["city", "country"],
            "type": "object",
            "additionalProperties": False,
        },
        "nights": {"description": "How long.", "exclusiveMinimum": 0, "maximum": 30, "type": "integer"},
        "board": {
            "anyOf": [{"enum": ["none", "half"], "type": "string"}, {"type": "null"}],
            "description": 'Which meals. Default: "none".',
        },
        "first": {"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}], "description": "First night."},
        "stars": {
            "anyOf": [{"items": {"type": "integer"}, "maxItems": 2, "type": "array"}, {"type": "null"}],
            "description": "Which class. Default: [3].",
        },
    },
    "required": ["place", "nights", "board", "first", "stars"],
    "additionalProperties": False,
}
GEMINI_PARAMETERS = {
    "type": "object",
    "properties": {
        **PARAMETERS["properties"],
        "nights": {"description": "How long.", "minimum": 1, "maximum": 30, "type": "integer"},
        "first": {"type": "string", "nullable": True, "description": "First night. Format: date."},
    },
    "required": ["place", "nights"],
}
NAMED = {"name": "book", "description": "Book a room."}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("openai", {"type": "function", "function": {**NAMED, "parameters": PARAMETERS}}),
        ("openai-responses", {"type": "function", **NAMED, "parameters": PARAMETERS, "strict": False}),
        ("anthropic", {**NAMED, "input_schema": PARAMETERS}),
        ("gemini", {"functionDeclarations": [{**NAMED, "parameters": GEMINI_PARAMETERS}]}),
        ("json_schema", {"title": "book", "description": "Book a room.", **PARAMETERS}),
    ],
)
def test_a_tool_is_rendered_in_each_form(form: DefinitionFormat, expected: dict[str, Any]) -> None:
    """Without titles, references, injected parameters, tags or metadata."""
    assert render_definitions([book.compiled], form) == [expected]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("openai", {"type": "function", "function": {**NAMED, "parameters": STRICT_PARAMETERS, "strict": True}}),
        ("openai-responses", {"type": "function", **NAMED, "parameters": STRICT_PARAMETERS, "strict": True}),
    ],
)
def test_a_tool_is_rendered_strictly_where_the_form_has_that(form: DefinitionFormat, expected: dict[str, Any]) -> None:
    """Every property required, optional ones nullable, objects closed, and the flag set."""
    assert render_definitions([book.compiled], form, strict=True) == [expected]


def test_a_tool_with_an_obstacle_stays_plain_among_strict_ones() -> None:
    """One dict does not cost the others their strictness."""

    @tool
    def store(values: dict[str, int]) -> None:
        """Store."""

    rendered = render_definitions([store.compiled, ping.compiled], "openai", strict=True)

    assert rendered == [
        {
            "type": "function",
            "function": {
                "name": "store",
                "description": "Store.",
                "parameters": {
                    "type": "object",
                    "properties": {"values": {"additionalProperties": {"type": "integer"}, "type": "object"}},
                    "required": ["values"],
                },
            },
        },
        {
            "type": "function",
            "function": {
                "name": "ping",
                "description": "Answer.",
                "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
                "strict": True,
            },
        },
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_no_tools_are_an_empty_list(form: DefinitionFormat) -> None:
    """Also in Gemini's form, which wraps them."""
    assert render_definitions([], form) == []


def test_gemini_gets_all_tools_in_one_wrapper_and_none_without_parameters() -> None:
    """It refuses an object without properties."""
    assert render_definitions([ping.compiled, ping.compiled], "gemini") == [
        {
            "functionDeclarations": [
                {"name": "ping", "description": "Answer."},
                {"name": "ping", "description": "Answer."},
            ]
        }
    ]


PAIR = {"type": "array", "minItems": 2, "maxItems": 2}


@pytest.mark.parametrize(
    ("annotation", "default", "expected"),
    [
        pytest.param(Literal["a"], (), {"type": "string", "enum": ["a"]}, id="const"),
        pytest.param(Literal["a", 1], (), {"type": "string", "enum": ["a", "1"]}, id="enums are texts"),
        pytest.param(
            Annotated[Cat | Dog, Field(discriminator="kind")],
            (),
            {
                "anyOf": [
                    {
                        "description": "A cat.",
                        "properties": {"kind": {"type": "string", "enum": ["cat"]}},
                        "required": ["kind"],
                        "type": "object",
                    },
                    {
                        "description": "A dog.",
                        "properties": {"kind": {"type": "string", "enum": ["dog"]}},
                        "required": ["kind"],
                        "type": "object",
                    },
                ]
            },
            id="oneOf",
        ),
        pytest.param(
            int | str | None,
            (None,),
            {"anyOf": [{"type": "integer"}, {"type": "string"}], "nullable": True},
            id="nullable union",
        ),
        pytest.param(datetime.datetime, (), {"format": "date-time", "type": "string"}, id="format it knows"),
        pytest.param(
            Annotated[float, Field(gt=0, lt=2, multiple_of=0.5)],
            (1.0,),
            {
                "default": 1.0,
                "minimum": 0,
                "maximum": 2,
                "type": "number",
                "description": "More than 0. Less than 2. A multiple of 0.5.",
            },
            id="bounds",
        ),
        pytest.param(list, (), {"type": "array", "items": {"type": "string"}}, id="any items"),
        pytest.param(tuple[int, int], (), {**PAIR, "items": {"type": "integer"}}, id="tuple of the same"),
        pytest.param(
            tuple[int, str],
            (),
            {
                **PAIR,
                "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "description": "In this order: integer, string.",
            },
            id="tuple",
        ),
        pytest.param(
            dict[str, int],
            (),
            {"type": "object", "description": "Keys as needed, each value an integer."},
            id="free keys",
        ),
        pytest.param(
            Node,
            (),
            {
                "type": "object",
                "description": "A node.",
                "properties": {
                    "children": {
                        "type": "array",
                        "items": {"type": "object", "description": "Another Node, of the same form."},
                        "default": [],
                    }
                },
            },
            id="recursion",
        ),
        pytest.param(
            Literal[True], (True,), {"type": "boolean", "description": "Always true.", "default": True}, id="true"
        ),
        pytest.param(Literal[1, 2], (2,), {"type": "string", "enum": ["1", "2"], "default": "2"}, id="numbers"),
        pytest.param(Literal["a"] | None, (None,), {"type": "string", "enum": ["a"], "nullable": True}, id="null"),
    ],
)
def test_gemini_gets_its_own_subset(annotation: Any, default: tuple[Any, ...], expected: dict[str, Any]) -> None:
    """Null as nullable, const as enum, inclusive bounds, no references."""

    def take(x: Any) -> None:
        """Take."""

    take.__annotations__["x"] = annotation
    take.__defaults__ = default or None

    rendered = render_definitions([tool(take).compiled], "gemini")

    assert rendered[0]["functionDeclarations"][0]["parameters"]["properties"] == {"x": expected}


@pytest.mark.parametrize("approval", [True, lambda _: False])
@pytest.mark.parametrize("form", FORMATS)
def test_only_the_form_with_room_for_it_says_that_calls_may_wait(form: DefinitionFormat, approval: Any) -> None:
    """Providers refuse what they do not know."""
    options: list[Any] = [False, approval]
    plain, asking = (
        render_definitions([tool("pay", description="Pay.", requires_approval=value)(lambda: None).compiled], form)[0]
        for value in options
    )

    meta = {"_meta": {"sidecall/requires_approval": True}} if form == "mcp" else {}
    assert asking == {**plain, **meta}
