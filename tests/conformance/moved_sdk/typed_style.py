"""Function tools with arguments and results of many types, and docstrings of every style."""

import datetime
import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from agents import RunContextWrapper, ToolOutputFileContent, ToolOutputImageDict, function_tool
from pydantic import BaseModel, Field
from typing_extensions import TypedDict


class UserInfo(TypedDict):
    tenant: str


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    """One line of an order."""

    sku: str = Field(pattern=r"^[A-Z]{2}\d+$")
    count: int = Field(1, ge=1)


class Order(BaseModel):
    lines: list[Line]
    note: str | None = None


@dataclass
class Point:
    x: float
    y: float = 0.0


class Card(BaseModel):
    kind: Literal["card"]
    number: str


class Cash(BaseModel):
    kind: Literal["cash"]
    amount: int


@function_tool
def place_order(ctx: RunContextWrapper[UserInfo], order: Order) -> dict[str, Any]:
    """Place an order.

    Parameters
    ----------
    order : Order
        What to buy.
    """
    return {"tenant": ctx.context["tenant"], "skus": [line.sku for line in order.lines], "n": order.lines[0].count}


@function_tool
def paint(color: Color, times: int = 2) -> str:
    """Paint.

    :param color: With which color.
    :param times: How often.
    """
    return f"{color.name} x{times}"


@function_tool
async def pay(method: Annotated[Card | Cash, Field(discriminator="kind")]) -> str:
    """Pay."""
    return type(method).__name__


@function_tool(strict_mode=False)
def move(to: Point, by: dict[str, float] | None = None) -> Point:
    """Move.

    Args:
        to: Where.
        by: How much more.
    """
    return Point(to.x + (by or {}).get("x", 0), to.y)


@function_tool
def when(day: datetime.date, hours: list[int]) -> list[str]:
    """Say when."""
    return [f"{day.isoformat()} {hour}" for hour in hours]


@function_tool(use_docstring_info=False, description_override="Own words.")
def literal(unit: Literal["c", "f"] = "c") -> Literal["c", "f"]:
    """Not these."""
    return unit


@function_tool
def nothing() -> None:
    """Return nothing."""


@function_tool
def truth(a: bool, b: float | int | None = None) -> bool:
    """Return a bool."""
    return a and b is None


@function_tool
def total(*numbers: int) -> int:
    """Add numbers."""
    return sum(numbers)


@function_tool
def file(name: str) -> ToolOutputFileContent:
    """Hand over a file."""
    return ToolOutputFileContent(file_id=f"file_{name}", filename=name)


@function_tool
def picture(id: str) -> ToolOutputImageDict:
    """Show a picture that the provider has."""
    return {"type": "image", "file_id": id, "detail": "high"}


@function_tool
def strange(schema: str, copy: int = 1) -> str:
    """Have odd names."""
    return f"{schema}{copy}"
