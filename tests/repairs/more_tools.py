"""More tools of every kind, for calls that were written once the rules stood."""

import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from sidecall import BaseTool, tool
from tests.repairs.wrong_tools import write_given


class Guest(BaseModel):
    """A guest."""

    first_name: str
    last_name: str
    age: Annotated[int | None, Field(ge=0, le=130)] = None


class Stay(BaseModel):
    """A stay."""

    check_in: datetime.date
    nights: Annotated[int, Field(ge=1, le=30)]
    guests: Annotated[list[Guest], Field(min_length=1, max_length=4)]


class Circle(BaseModel):
    """A circle."""

    shape: Literal["circle"] = "circle"
    radius: float


class Box(BaseModel):
    """A box."""

    shape: Literal["box"] = "box"
    width: float
    height: float


class Text(BaseModel):
    """A filter of a text."""

    field: str
    contains: str


class Range(BaseModel):
    """A filter of a number."""

    field: str
    minimum: float | None = None
    maximum: float | None = None


class Point(NamedTuple):
    """A place."""

    lat: float
    lon: float


@tool
async def book(stay: Stay, room_type: Literal["single", "double", "suite"] = "double", breakfast: bool = False):
    """Book a room."""
    return write_given(stay=stay, room_type=room_type, breakfast=breakfast)


@tool
async def paint(shapes: list[Annotated[Circle | Box, Field(discriminator="shape")]], opacity: float = 1.0):
    """Paint."""
    return write_given(shapes=shapes, opacity=opacity)


@tool
async def query(
    table: str,
    filters: list[Text | Range] | None = None,
    order_by: str | None = None,
    page_size: Annotated[int, Field(gt=0, le=100)] = 20,
):
    """Query."""
    return write_given(table=table, filters=filters, order_by=order_by, page_size=page_size)


@tool
async def email(
    recipient: str,
    subject: Annotated[str, Field(max_length=20)],
    body: str,
    cc: list[str] | None = None,
    send_at: datetime.datetime | None = None,
):
    """Write."""
    return write_given(recipient=recipient, subject=subject, body=body, cc=cc, send_at=send_at)


@tool
async def go(start: Point, price: Decimal = Decimal(1), mode: Literal["car", "bike", "on_foot"] | None = None):
    """Go."""
    return write_given(start=start, price=price, mode=mode)


PLAN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "goal": {"type": "string"},
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "action": {"enum": ["read", "write", "run"]},
                    "file_path": {"type": "string", "pattern": "^/"},
                    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 60},
                },
                "required": ["action"],
            },
            "minItems": 1,
        },
        "started_at": {"type": "string", "format": "date-time"},
    },
    "required": ["goal", "steps"],
    "additionalProperties": False,
}


@tool(args_schema=PLAN)
async def plan(**given: Any):
    """Plan."""
    return write_given(**given)


MORE_TOOLS: dict[str, BaseTool] = {it.name: it for it in (book, paint, query, email, go, plan)}
