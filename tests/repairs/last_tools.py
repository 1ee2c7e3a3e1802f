"""Tools whose calls were written last: tickets, rooms, invoices, comments, releases."""

import datetime
import enum
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from sidecall import BaseTool, tool
from tests.repairs.wrong_tools import write_given


class Severity(enum.IntEnum):
    """How bad."""

    MINOR = 1
    MAJOR = 2
    CRITICAL = 3


class Reporter(BaseModel):
    """Who says so."""

    model_config = ConfigDict(extra="forbid")

    user_name: Annotated[str, Field(min_length=3, max_length=12)]
    team: Literal["support", "sales", "engineering"] | None = None


@tool
async def open_ticket(
    title: str,
    reporter: Reporter,
    severity: Severity = Severity.MINOR,
    labels: Annotated[list[Literal["bug", "billing", "feature-request"]], Field(max_length=2)] = [],  # noqa: B006
    due_in_days: Annotated[int, Field(ge=0, le=90)] | None = None,
    custom_fields: dict[str, int | str] | None = None,
):
    """Open a ticket."""
    return write_given(
        title=title,
        reporter=reporter,
        severity=int(severity),
        labels=labels,
        due_in_days=due_in_days,
        custom_fields=custom_fields,
    )


class Period(TypedDict):
    """From a day to a day."""

    start_date: datetime.date
    end_date: datetime.date
    flexible: NotRequired[bool]


@dataclass
class Bed:
    """What to sleep in."""

    size: Literal["single", "queen", "king"]
    count: Annotated[int, Field(ge=1)] = 1


@tool(unknown_args="forbid")
async def find_rooms(
    location: str,
    period: Period,
    beds: list[Bed] | None = None,
    amenities: dict[Literal["wifi", "pool", "parking"], bool] | None = None,
    max_price: Annotated[Decimal, Field(gt=0, le=5000)] | None = None,
    star_rating: tuple[Annotated[int, Field(ge=1, le=5)], Annotated[int, Field(ge=1, le=5)]] = (1, 5),
):
    """Find rooms."""
    return write_given(
        location=location,
        period=period,
        beds=beds,
        amenities=amenities,
        max_price=max_price,
        star_rating=star_rating,
    )


class FixedDiscount(BaseModel):
    """So much less."""

    type: Literal["fixed"] = "fixed"
    amount_off: Annotated[Decimal, Field(gt=0)]


class PercentDiscount(BaseModel):
    """Such a part less."""

    type: Literal["percent"] = "percent"
    percent_off: Annotated[int, Field(ge=1, le=99)]


class Item(BaseModel):
    """What is sold."""

    model_config = ConfigDict(populate_by_name=True)

    description: str
    unit_price: Annotated[Decimal, Field(alias="unitPrice", ge=0)]
    quantity: Annotated[int, Field(ge=1)] = 1
    discount: Annotated[FixedDiscount | PercentDiscount, Field(discriminator="type")] | None = None


@tool
async def send_invoice(
    customer_id: Annotated[str, Field(pattern=r"^cus_\d{4}$")],
    items: Annotated[list[Item], Field(min_length=1)],
    issued_at: datetime.datetime | None = None,
    payment_terms: Literal["net_15", "net_30", "due_on_receipt"] = "net_30",
):
    """Send an invoice."""
    return write_given(customer_id=customer_id, items=items, issued_at=issued_at, payment_terms=payment_terms)


class Comment(BaseModel):
    """What somebody said."""

    author: str
    text: Annotated[str, Field(min_length=1)]
    mentions: set[str] = set()
    replies: list["Comment"] = []


@tool
async def post_thread(thread: Comment, channel: Annotated[str, Field(pattern="^#[a-z-]+$")] = "#general"):
    """Post a thread."""
    return write_given(thread=thread.model_dump(mode="json"), channel=channel)


RELEASE: dict[str, Any] = {
    "type": "object",
    "$defs": {
        "step": {
            "type": "object",
            "properties": {
                "run": {"type": "string"},
                "on_failure": {"anyOf": [{"$ref": "#/$defs/step"}, {"type": "null"}]},
                "retry_count": {"type": "integer", "minimum": 0, "maximum": 5},
            },
            "required": ["run"],
        }
    },
    "properties": {
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$", "description": "Three numbers with dots."},
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1},
        "targets": {
            "type": "object",
            "propertyNames": {"enum": ["staging", "production"]},
            "additionalProperties": {"type": "array", "items": {"type": "string", "format": "hostname"}},
        },
        "window": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"opens_at": {"type": "string", "format": "time"}, "hours": {"type": "number"}},
                    "required": ["opens_at"],
                    "additionalProperties": False,
                },
                {"const": "any"},
            ]
        },
        "notify": {"type": ["array", "null"], "items": {"type": "string", "format": "email"}},
        "rollout": {"enum": [10, 50, 100]},
    },
    "required": ["version", "steps"],
}


@tool(args_schema=RELEASE)
async def release(**given: Any):
    """Release."""
    return write_given(**given)


LAST_TOOLS: dict[str, BaseTool] = {it.name: it for it in (open_ticket, find_rooms, send_invoice, post_thread, release)}
