"""Tools that tests try in the console."""

import asyncio
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sidecall import ToolContext, ToolException, tool

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m [click](javascript:alert(3))"


class Line(BaseModel):
    """One line of an order."""

    sku: str = Field(description="Which article.")
    count: int = Field(1, ge=1, le=100)


class Card(BaseModel):
    """Paid by card."""

    kind: Literal["card"] = "card"
    number: str


class Transfer(BaseModel):
    """Paid by bank."""

    kind: Literal["transfer"] = "transfer"
    iban: str


@tool(tags=["shop"])
async def place_order(
    customer_id: int,
    lines: list[Line],
    payment: Annotated[Card | Transfer, Field(discriminator="kind")],
    note: str | None = None,
    days: Annotated[int, Field(le=14)] = 3,
) -> dict[str, object]:
    """Place an order of one customer.

    Args:
        customer_id: Who orders.
        lines: What is ordered.
        payment: How it is paid.
        note: Words to the shop.
        days: In how many days it has to be there.
    """
    return {"customer": customer_id, "lines": len(lines), "paid_by": payment.kind, "note": note, "days": days}


@tool(requires_approval=True, tags=["shop", "money"])
async def refund(customer: str, cents: Annotated[int, Field(ge=1, le=50_000)], reason: str = "") -> str:
    """Give money back to a customer. It leaves at once, and cannot be called back.

    Args:
        customer: Who gets it.
        cents: How much.
        reason: Why.
    """
    return f"refunded {cents} cents to {customer}"


@tool
async def count_slowly(steps: int = 3, seconds: float = 0.05, *, context: ToolContext) -> str:
    """Count to a number, and say how far it is.

    Args:
        steps: How far.
        seconds: How long each step takes.
    """
    for number in range(1, steps + 1):
        context.report_progress(number, steps, f"step {number}")
        await asyncio.sleep(seconds)
    return f"counted to {steps}"


@tool(name="hostile", description=f"Say what no page may run. {HOSTILE}")
async def hostile(text: str = HOSTILE) -> str:
    """Say it."""
    return text


@tool
async def fail(words: str) -> str:
    """Fail with these words.

    Args:
        words: What it says.
    """
    raise ToolException(words)


TOOLS = (place_order, refund, count_slowly, hostile, fail)
