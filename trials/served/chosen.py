"""Tools whose arguments, state and results are each one of many things."""

import re
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Union

from pydantic import AnyUrl, BaseModel, Field, Json, create_model

from sidecall import InjectedState, StructuredTool, ToolContext, tool

_KINDS = 30


class Heron(BaseModel):
    """A bird."""

    kind: Literal["heron"]
    legs: int


class Fern(BaseModel):
    """A plant."""

    kind: Literal["fern"]
    height: float
    seen: list[date] = []


class Color(StrEnum):
    """A color."""

    GREY = "grey"
    GREEN = "green"


def _make_kind(number: int) -> Any:
    fields: Any = {"kind": (Literal[f"kind_{number}"], ...), "number": (int, ...)}
    return create_model(f"Kind{number}", **fields)


_Wide: Any = Union[tuple(_make_kind(it) for it in range(_KINDS))]  # noqa: UP007  of as many as there are
_Tagged = Annotated[Heron | Fern, Field(discriminator="kind")]


@tool
async def choose_wide(values: list[_Wide]) -> int:
    """Count what is one of thirty things.

    Args:
        values: What.
    """
    return len(values)


@tool
async def choose_more(
    tagged: list[_Tagged] | None = None,
    named: dict[date, Heron | Fern | int] | None = None,
    nested: list[list[int] | list[date] | dict[str, bool]] | None = None,
    colors: set[Color | int] | None = None,
    pairs: list[tuple[int, Heron | Fern]] | None = None,
    grown: Fern | list[Fern] | dict[str, Fern] | None = None,
) -> int:
    """Count what is one of several things.

    Args:
        tagged: Things that say what they are.
        named: Things by days.
        nested: Lists of one kind each.
        colors: Different colors.
        pairs: Numbers and things.
        grown: One plant, or many.
    """
    return sum(len(it) for it in (tagged, named, nested, colors, pairs) if it) + bool(grown)


@tool
async def choose_free(**values: Heron | Fern | datetime) -> int:
    """Count what has any name.

    Args:
        values: What.
    """
    return len(values)


@tool(requires_approval=True)
async def choose_approved(values: list[Heron | Fern | datetime]) -> int:
    """Count what a person approves.

    Args:
        values: What.
    """
    return len(values)


@tool
async def choose_state(messages: Annotated[list[Heron | Fern | datetime], InjectedState("messages")]) -> int:
    """Count what the program sends."""
    return len(messages)


class Sent(BaseModel):
    """What a program sends."""

    values: list[Heron | Fern | datetime]


@tool
async def choose_context(context: ToolContext[Sent]) -> int:
    """Count what the program sends beside its calls."""
    return len(context.context.values)


@tool
def return_wrongly(count: int) -> list[Heron | Fern | datetime]:
    """Return what is none of several things.

    Args:
        count: How many.
    """
    return [{"kind": "none", "legs": it} for it in range(count)]  # type: ignore[misc]


@tool
def return_things(count: int) -> list[Heron | Fern]:
    """Return models.

    Args:
        count: How many.
    """
    return [Heron(kind="heron", legs=it) for it in range(count)]


@tool
def return_named(count: int) -> dict[date, Heron | Fern | Color]:
    """Return models by days.

    Args:
        count: How many.
    """
    return {date.fromordinal(it + 1): Heron(kind="heron", legs=it) for it in range(count)}


class Sum(BaseModel):
    """A sum of what is either of two things again."""

    op: Literal["sum"]
    left: "Sum | Product | int"
    right: "Sum | Product | int"


class Product(BaseModel):
    """The same as a product."""

    op: Literal["product"]
    left: "Sum | Product | int"
    right: "Sum | Product | int"


@tool
async def choose_nested(value: Sum | Product | int) -> str:
    """Compute what is within each other.

    Args:
        value: What.
    """
    return str(value)[:10]


@tool
async def choose_nested_state(value: Annotated[Sum | Product | int, InjectedState("value")]) -> str:
    """Compute what the program sends."""
    return str(value)[:10]


@tool
async def return_nested(value: Any) -> Sum | Product | int:
    """Return what comes.

    Args:
        value: What.
    """
    return value  # type: ignore[no-any-return]


@tool
async def differ_by_hash(numbers: set[int]) -> int:
    """Count different numbers.

    Args:
        numbers: Which.
    """
    return len(numbers)


@tool
async def read_pattern(pattern: re.Pattern[str]) -> int:
    """Measure a pattern.

    Args:
        pattern: Which.
    """
    return len(pattern.pattern)


@tool
async def read_address(address: AnyUrl) -> int:
    """Measure an address.

    Args:
        address: Which.
    """
    return len(str(address))


async def _count(**args: Any) -> str:
    return str(sum(len(it) for it in args.values()))


async def _count_nested(**args: Any) -> str:
    return str(len(args))


_FORMS = [
    {
        "type": "object",
        "properties": {"kind": {"const": f"kind_{it}"}, "number": {"type": "integer"}},
        "required": ["kind", "number"],
    }
    for it in range(_KINDS)
]


def _nest(op: str) -> dict[str, Any]:
    value = {"$ref": "#/$defs/Value"}
    return {
        "type": "object",
        "properties": {"op": {"const": op}, "left": value, "right": value},
        "required": ["op", "left", "right"],
    }


_PATTERN = {"type": "string", "pattern": "^(a|b|ab)*$"}
fit = StructuredTool.from_function(
    coroutine=_count,
    name="fit",
    description="Count what fits a schema.",
    args_schema={
        "type": "object",
        "properties": {
            "one_of": {"type": "array", "items": {"oneOf": _FORMS}},
            "any_of": {"type": "object", "additionalProperties": {"anyOf": _FORMS}},
            "all_of": {"type": "array", "items": {"allOf": [_PATTERN, {"minLength": 5}, {"enum": ["ababa", "bbbbb"]}]}},
            "nested": {"type": "array", "items": {"type": "array", "uniqueItems": True, "items": {"oneOf": _FORMS}}},
            "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            "keys": {"type": "object", "propertyNames": _PATTERN},
        },
    },
)
fit_nested = StructuredTool.from_function(
    coroutine=_count_nested,
    name="fit_nested",
    description="Count what fits a schema that leads back to itself.",
    args_schema={
        "type": "object",
        "properties": {
            "value": {"$ref": "#/$defs/Value"},
            "names": {"type": "array", "items": {"format": "idn-hostname"}},
            "pattern": {"type": "string", "format": "regex"},
        },
        "$defs": {
            "Value": {"anyOf": [{"$ref": "#/$defs/Sum"}, {"$ref": "#/$defs/Product"}, {"type": "integer"}]},
            "Sum": _nest("sum"),
            "Product": _nest("product"),
        },
    },
)


@tool
async def read_text(text: Json[Any]) -> str:
    """Name the type of what a text of JSON says.

    Args:
        text: Which.
    """
    return type(text).__name__
