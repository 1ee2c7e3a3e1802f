"""A model of pydantic 1 is described in today's JSON Schema."""

import math
from collections.abc import Callable
from typing import Literal, Optional

from pydantic import v1

from sidecall.compat.pydantic_1.args_schema import render_v1_schema


class Inner(v1.BaseModel):
    """Inside."""

    a: int
    b: int = v1.Field(2, le=10)


class Outer(v1.BaseModel):
    """A model with what pydantic 1 says differently."""

    number: int = v1.Field(..., gt=0, description="A number.")
    text: Optional[str] = None  # noqa: UP045  pydantic 1
    inner: Inner = v1.Field(None, description="In it.")
    many: list[Inner] = []
    pair: tuple[int, str] = (1, "a")
    ratio: float = math.nan
    title: Literal["a"] = "a"


class Node(v1.BaseModel):
    """A model that contains itself."""

    children: list["Node"] = []


Node.update_forward_refs()


def test_the_schema_is_said_in_todays_words() -> None:
    """Definitions, tuples and descriptions beside references; NaN is no default that JSON has."""
    inner = {
        "description": "Inside.",
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"default": 2, "maximum": 10, "type": "integer"}},
        "required": ["a"],
    }

    assert render_v1_schema(Outer) == {
        "description": "A model with what pydantic 1 says differently.",
        "type": "object",
        "properties": {
            "number": {"description": "A number.", "exclusiveMinimum": 0, "type": "integer"},
            "text": {"type": "string"},
            "inner": {"$ref": "#/$defs/Inner", "description": "In it."},
            "many": {"default": [], "type": "array", "items": {"$ref": "#/$defs/Inner"}},
            "pair": {
                "default": [1, "a"],
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
            },
            "ratio": {"type": "number"},
            "title": {"default": "a", "enum": ["a"], "type": "string"},
        },
        "required": ["number"],
        "$defs": {"Inner": inner},
    }


def test_a_model_that_contains_itself_is_a_reference() -> None:
    """To one of its own definitions."""
    assert render_v1_schema(Node)["$ref"] == "#/$defs/Node"
    assert render_v1_schema(Node)["$defs"]["Node"]["properties"] == {
        "children": {"default": [], "type": "array", "items": {"$ref": "#/$defs/Node"}}
    }


def test_what_cannot_be_said_is_left_out_without_a_warning() -> None:
    """A function has no JSON Schema."""

    class WithFunction(v1.BaseModel):
        """One."""

        function: Callable[[int], int]

    assert render_v1_schema(WithFunction)["properties"] == {}
