"""Tools of every kind, which answer with the arguments that they got."""

import datetime
import enum
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, TypeAdapter
from typing_extensions import TypedDict

from sidecall import BaseTool, tool

PLAIN: TypeAdapter[Any] = TypeAdapter(Any)


def write_given(**given: Any) -> str:
    """Write the arguments as JSON."""
    return PLAIN.dump_json(given).decode()


class Card(BaseModel):
    """A card."""

    kind: Literal["card"]
    number: Annotated[str, Field(min_length=4)]
    cvc: str | None = None


class Transfer(BaseModel):
    """A transfer."""

    kind: Literal["transfer"]
    iban: str


class Daily(BaseModel):
    """At a time of day."""

    hour: Annotated[int, Field(ge=0, le=23)]
    minute: int = 0
    weekdays: list[Literal["mon", "tue", "wed", "thu", "fri"]] = []


class Interval(BaseModel):
    """Again and again."""

    every_minutes: Annotated[int, Field(gt=0)]


class Line(BaseModel):
    """One line of an order."""

    sku: Annotated[str, Field(pattern="^[A-Z]{3}-[0-9]+$", description="Three capital letters, a dash and digits.")]
    amount: Annotated[int, Field(ge=1, le=99)] = 1
    note: str = ""


class Priority(enum.Enum):
    """How urgent."""

    LOW = "low"
    HIGH = "very-high"


class Address(TypedDict, total=False):
    """Where."""

    street: str
    postal_code: str


@dataclass
class Size:
    """How large."""

    width: float
    height: float = 1.0


class Node(BaseModel):
    """A tree."""

    label: str
    children: list["Node"] = []


class Closed(BaseModel):
    """Nothing else."""

    model_config = ConfigDict(extra="forbid")

    title: str
    max_pages: int = 10


@tool
async def weather(
    city: str, days: Annotated[int, Field(ge=1, le=14)] = 1, units: Literal["metric", "imperial"] = "metric"
):
    """Forecast."""
    return write_given(city=city, days=days, units=units)


@tool
async def pay(
    method: Annotated[Card | Transfer, Field(discriminator="kind")],
    amount: Annotated[float, Field(gt=0)],
    due: datetime.date | None = None,
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$", description="A currency as three capital letters.")] = "EUR",
):
    """Pay."""
    return write_given(method=method, amount=amount, due=due, currency=currency)


@tool
async def remind(
    when: Daily | Interval, text: str, priority: Priority = Priority.LOW, starts: datetime.datetime | None = None
):
    """Remind."""
    return write_given(when=when, text=text, priority=priority, starts=starts)


@tool
async def order(
    lines: Annotated[list[Line], Field(min_length=1)],
    address: Address | None = None,
    gift: bool = False,
    tags: set[str] = frozenset(),
):  # type: ignore[assignment]
    """Order."""
    return write_given(lines=lines, address=address, gift=gift, tags=sorted(tags))


@tool
async def draw(
    size: Size, point: tuple[int, int] = (0, 0), colors: dict[str, str] | None = None, tree: Node | None = None
):
    """Draw."""
    return write_given(size=size, point=point, colors=colors, tree=tree)


@tool
async def fetch(
    url: HttpUrl,
    id: uuid.UUID | None = None,
    mail: str | None = None,
    at: datetime.time | None = None,
    wait: datetime.timedelta | None = None,
):
    """Fetch."""
    return write_given(url=url, id=id, mail=mail, at=at, wait=wait)


@tool(unknown_args="forbid")
async def strict_search(query: Annotated[str, Field(min_length=2)], max_results: int = 5, inside: Closed | None = None):
    """Search."""
    return write_given(query=query, max_results=max_results, inside=inside)


@tool
async def collect(name: str, limit: int = 3, **rest: Any):
    """Collect."""
    return write_given(name=name, limit=limit, rest=rest)


@tool
async def mixed(value: int | list[int] | datetime.date, flag: bool | None = None):
    """Mix."""
    return write_given(value=value, flag=flag)


JSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "labels": {"type": "array", "items": {"enum": ["bug", "feature", "question"]}, "uniqueItems": True},
        "due_date": {"type": "string", "format": "date"},
        "assignee": {
            "type": "object",
            "properties": {"user_id": {"type": "integer", "minimum": 1}, "mail": {"type": "string", "format": "email"}},
            "required": ["user_id"],
        },
        "state": {"enum": ["open", "closed"]},
        "target": {
            "anyOf": [
                {"type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]},
                {
                    "type": "object",
                    "properties": {"tag": {"type": "string"}, "signed": {"type": "boolean"}},
                    "required": ["tag"],
                },
            ]
        },
        "points": {"type": "integer", "multipleOf": 5, "maximum": 100},
        "draft": {"type": "boolean"},
    },
    "required": ["title"],
}


@tool(args_schema=JSON)
async def issue(**given: Any):
    """Open an issue."""
    return write_given(**given)


TOOLS: dict[str, BaseTool] = {
    it.name: it for it in (weather, pay, remind, order, draw, fetch, strict_search, collect, mixed, issue)
}
