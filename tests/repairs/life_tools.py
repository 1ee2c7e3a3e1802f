"""Tools as products have them: bookings, customers, payments, calendars, places, files and mail."""

import datetime
import enum
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, alias_generators
from typing_extensions import TypedDict

from sidecall import BaseTool, tool
from tests.repairs.wrong_tools import write_given

MailText = Annotated[str, Field(pattern=r"^[^@ ]+@[^@ ]+$", description="A mail address.")]


class Money(BaseModel):
    """An amount of money."""

    amount: Annotated[Decimal, Field(ge=0)]
    currency: Literal["EUR", "USD", "GBP"] = "EUR"


class Passenger(BaseModel):
    """Who flies."""

    given_name: str
    family_name: str
    birth_date: datetime.date | None = None


@tool
async def book_flight(
    origin: Annotated[str, Field(pattern="^[A-Z]{3}$", description="An airport as three capital letters.")],
    destination: Annotated[str, Field(pattern="^[A-Z]{3}$")],
    departure: datetime.date,
    passengers: Annotated[list[Passenger], Field(min_length=1)],
    cabin: Literal["economy", "premium_economy", "business"] = "economy",
    max_stops: Literal[0, 1, 2] = 1,
    price_limit: Money | None = None,
    return_date: datetime.date | None = None,
):
    """Book a flight."""
    return write_given(
        origin=origin,
        destination=destination,
        departure=departure,
        passengers=passengers,
        cabin=cabin,
        max_stops=max_stops,
        price_limit=price_limit,
        return_date=return_date,
    )


class LeadStatus(enum.Enum):
    """Where a lead stands."""

    NEW = "new"
    QUALIFIED = "qualified"
    CLOSED_WON = "closed-won"


class MailAddress(BaseModel):
    """A mail address."""

    kind: Literal["work", "home"] = "work"
    address: MailText


class Contact(BaseModel):
    """A customer."""

    model_config = ConfigDict(alias_generator=alias_generators.to_camel)

    first_name: str
    last_name: str
    job_title: str | None = None
    mail_addresses: list[MailAddress] = []


@tool
async def create_contact(
    contact: Contact,
    phones: dict[str, str] | None = None,
    lead_status: LeadStatus = LeadStatus.NEW,
    owner_id: Annotated[int, Field(alias="ownerId", ge=1)] = 1,
):
    """Create a contact."""
    return write_given(contact=contact, phones=phones, lead_status=lead_status, owner_id=owner_id)


class PriceRange(TypedDict, total=False):
    """From and to."""

    min_price: float
    max_price: float


@tool
async def search_products(
    query: str,
    facets: dict[str, list[str]] | None = None,
    price: PriceRange | None = None,
    sort_by: Literal["relevance", "price_asc", "price_desc", "newest"] = "relevance",
    in_stock: bool | None = None,
    page: Annotated[int, Field(ge=1)] = 1,
    per_page: Annotated[int, Field(ge=1, le=50)] = 10,
):
    """Search products."""
    return write_given(
        query=query, facets=facets, price=price, sort_by=sort_by, in_stock=in_stock, page=page, per_page=per_page
    )


class Attendee(TypedDict):
    """Who comes."""

    email: str
    optional: NotRequired[bool]


class Recurrence(BaseModel):
    """How often."""

    freq: Literal["daily", "weekly", "monthly"]
    interval: Annotated[int, Field(ge=1)] = 1
    by_day: list[Literal["MO", "TU", "WE", "TH", "FR", "SA", "SU"]] = []
    until: datetime.date | None = None


@tool
async def create_event(
    title: Annotated[str, Field(min_length=1, max_length=80)],
    start: datetime.datetime,
    duration: datetime.timedelta,
    attendees: list[Attendee] | None = None,
    recurrence: Recurrence | None = None,
    reminder_minutes: Annotated[list[int], Field(max_length=3)] = [],  # noqa: B006
):
    """Put an event into the calendar."""
    return write_given(
        title=title,
        start=start,
        duration=duration,
        attendees=attendees,
        recurrence=recurrence,
        reminder_minutes=reminder_minutes,
    )


class CardSource(BaseModel):
    """Paid by card."""

    method: Literal["card"]
    token: Annotated[str, Field(pattern="^tok_[a-z0-9]{6,}$")]


class SepaSource(BaseModel):
    """Paid by debit."""

    method: Literal["sepa_debit"]
    iban: Annotated[str, Field(min_length=15, max_length=34)]
    mandate_id: str | None = None


class WalletSource(BaseModel):
    """Paid by wallet."""

    method: Literal["wallet"]
    provider: Literal["paypal", "apple_pay"]


class Split(BaseModel):
    """A part of a payment."""

    model_config = ConfigDict(extra="forbid")

    account: Annotated[str, Field(pattern="^acct_[0-9]+$")]
    percent: Annotated[float, Field(gt=0, le=100)]


@tool
async def make_payment(
    amount_cents: Annotated[int, Field(gt=0)],
    source: Annotated[CardSource | SepaSource | WalletSource, Field(discriminator="method")],
    splits: list[Split] = [],  # noqa: B006
    metadata: dict[str, str] | None = None,
    capture: bool = True,
):
    """Take a payment."""
    return write_given(amount_cents=amount_cents, source=source, splits=splits, metadata=metadata, capture=capture)


@dataclass
class Place:
    """A place on Earth."""

    lat: Annotated[float, Field(ge=-90, le=90)]
    lon: Annotated[float, Field(ge=-180, le=180)]


@tool
async def find_nearby(
    center: Place,
    radius_m: Annotated[int, Field(gt=0, le=50_000)] = 1000,
    categories: set[Literal["cafe", "hotel", "museum"]] = frozenset(),
    bounding_box: tuple[float, float, float, float] | None = None,
):  # type: ignore[assignment]
    """Find places."""
    return write_given(center=center, radius_m=radius_m, categories=sorted(categories), bounding_box=bounding_box)


@dataclass
class Attachment:
    """A file of a mail."""

    filename: str
    content: str
    inline: bool = False
    labels: list[str] = field(default_factory=list)


@tool
async def send_mail(
    to: Annotated[list[MailText], Field(min_length=1)],
    subject: str,
    body: str,
    cc: list[MailText] | None = None,
    attachments: list[Attachment] | None = None,
    importance: Literal[1, 2, 3] = 2,
):
    """Send a mail."""
    return write_given(to=to, subject=subject, body=body, cc=cc, attachments=attachments, importance=importance)


LIFE_TOOLS: dict[str, BaseTool] = {
    it.name: it
    for it in (
        book_flight,
        create_contact,
        search_products,
        create_event,
        make_payment,
        find_nearby,
        send_mail,
    )
}
