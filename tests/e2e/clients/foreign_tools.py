"""Tools with what Gemini's schemas have no place for, and JSON Schemas of others."""

import datetime
from collections.abc import Callable
from enum import IntEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sidecall import StructuredTool, tool


class Level(IntEnum):
    """How urgent it is."""

    LOW = 1
    HIGH = 2


class Tree(BaseModel):
    """A tree."""

    kind: Literal["", "oak", "elm"] = ""
    branches: list["Tree"] = []


@tool
def choose(
    yes: Literal[True],
    level: Level = Level.LOW,
    number: Literal[1, 2.5, None] = None,  # type: ignore[valid-type]  # JSON has such choices
    mixed: Literal["a", 1, True] = "a",
    maybe: Literal["a", "b"] | None = "b",
    many: list[Literal[1, 2]] = [],  # noqa: B006
    also: Literal[1] | dict[str, int] = 1,
    tree: Tree | None = None,
    when: datetime.date | None = None,
    long: datetime.timedelta | None = None,
    amount: Annotated[int, Field(gt=0, lt=3)] = 1,
    pair: tuple[int, str] | None = None,
    anything: Any = None,
) -> str:
    """Choose what there is."""
    return repr((yes, level, number, mixed, maybe, many, also))


def _repeat(**given: Any) -> str:
    return repr(given)


def _make(name: str, schema: dict[str, Any]) -> StructuredTool:
    function: Callable[..., str] = _repeat
    return tool(name, description="Repeat what is given.", args_schema=schema)(function)


_PLACES = {"route": {"type": "string"}, "file": {"type": ["string", "null"]}}
either = _make("either", {"properties": _PLACES, "anyOf": [{"required": ["route"]}, {"required": ["file"]}]})
shapes = _make(
    "shapes",
    {
        "oneOf": [
            {"type": "object", "properties": {"side": {"enum": [1, 2]}}, "required": ["side"]},
            {"type": "object", "properties": {"radius": {"type": ["number", "null"]}}, "required": ["radius"]},
        ]
    },
)
odd = _make(
    "odd",
    {
        "type": "object",
        "properties": {
            "text": {"enum": ["a", "", None]},
            "switch": {"const": False},
            "number": {"type": ["integer", "null"], "enum": [1, None]},
            "whole": {"allOf": [{"type": "integer"}, {"exclusiveMinimum": 1}, {"maximum": 2}]},
            "list": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            "id": {"type": "string", "format": "uuid"},
            "more": {"type": "object", "properties": {"a": {"const": 7}}, "required": ["a"]},
            "few": {"oneOf": [{"const": "x", "description": "X."}, {"const": 3, "description": "Three."}]},
        },
        "required": ["text", "missing"],
    },
)
