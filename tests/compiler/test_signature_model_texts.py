"""What authors say about a parameter reaches the schema, no matter what form they say it in."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import Doc

from sidecall import ToolContext, tool


@dataclass
class User:
    """What a caller's context may hold."""


def plain(a: Annotated[str, "Plain text."]) -> None:
    """Take."""


def doc(a: Annotated[str, Doc("PEP 727.")]) -> None:
    """Take."""


def optional(a: Annotated[str, "Optional text."] = None) -> None:  # noqa: RUF013  as many authors write it
    """Take."""


def constrained(a: Annotated[int | None, Field(description="Checked.", ge=1)] = None) -> None:
    """Take."""


def many(*a: Annotated[int, "Any number."]) -> None:
    """Take."""


def anything(a: Any = None) -> None:
    """Take."""


def infinite(a: float = math.inf) -> None:
    """Take."""


@pytest.mark.parametrize(
    ("function", "schema"),
    [
        (plain, {"description": "Plain text.", "type": "string"}),
        (doc, {"description": "PEP 727.", "type": "string"}),
        (
            optional,
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "description": "Optional text."},
        ),
        (
            constrained,
            {
                "anyOf": [{"minimum": 1, "type": "integer"}, {"type": "null"}],
                "default": None,
                "description": "Checked.",
            },
        ),
        (many, {"description": "Any number.", "items": {"type": "integer"}, "type": "array"}),
        (anything, {"default": None}),
        (infinite, {"type": "number"}),  # JSON has no such number
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_parameter_is_described(function: Any, schema: dict[str, Any]) -> None:
    """In one schema, without a nest of unions."""
    assert tool(function).compiled.args_schema.flat["properties"]["a"] == schema


def test_keyword_arguments_are_described() -> None:
    """By the docstring, where free keys stand in the schema."""

    @tool
    def take(**rest: int) -> None:
        """Take.

        Args:
            **rest: Anything else.
        """

    schema = take.compiled.args_schema.flat

    assert schema["additionalProperties"] == {
        "description": "Anything else. Further arguments, each under its own name beside the others.",
        "type": "integer",
    }


def test_a_class_can_be_a_tool() -> None:
    """Its parameters are those of its constructor."""

    class Point(BaseModel):
        """Make a point."""

        x: int

    made = tool("point")(Point)

    assert made.compiled.args_schema.flat["properties"] == {"x": {"type": "integer"}}
    assert made.invoke({"x": "3"}) == Point(x=3)


async def test_a_context_may_name_its_type() -> None:
    """As in the OpenAI Agents SDK."""

    @tool
    async def who(context: ToolContext[User], a: int = 1) -> str:
        """Say who."""
        return f"{context.tool_name} {a}"

    assert list(who.compiled.args_schema.flat["properties"]) == ["a"]
    assert await who.ainvoke({}) == "who 1"


NUMPY = """Take.

Parameters
----------
a
    The first.
"""


@pytest.mark.parametrize(
    ("options", "description", "parameter"),
    [
        ({}, "Take.", {"description": "The first.", "type": "integer"}),
        ({"docstring_style": "numpy"}, "Take.", {"description": "The first.", "type": "integer"}),
        ({"docstring_style": "sphinx"}, NUMPY.strip(), {"type": "integer"}),  # the author insists
        ({"use_docstring_info": False}, "", {"type": "integer"}),
    ],
    ids=["detected", "numpy", "sphinx", "none"],
)
def test_the_docstrings_style_can_be_said(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], description: str, parameter: dict[str, Any]
) -> None:
    """Or its use be forbidden."""

    def take(a: int) -> int:
        return a

    monkeypatch.setattr(take, "__doc__", NUMPY)
    compiled = tool(**options)(take).compiled

    assert compiled.description == description
    assert compiled.args_schema.flat["properties"]["a"] == parameter
