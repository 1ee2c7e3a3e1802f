"""Tools with much in their signatures, and with images and files in their answers."""

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sidecall import ToolException, tool


class Unit(Enum):
    """How an amount is measured."""

    GRAM = "g"
    PIECE = "piece"


class Line(BaseModel):
    """One line of an order."""

    article: Annotated[str, Field(min_length=1, pattern="^[a-z]+$")]
    amount: Annotated[float, Field(gt=0, le=100)] = 1
    unit: Unit = Unit.PIECE
    parts: list["Line"] = []


@tool
async def order(
    lines: Annotated[list[Line], Field(min_length=1, max_length=9)],
    when: date | None = None,
    kind: Literal["gift", "usual"] = "usual",
    size: tuple[int, int] = (1, 1),
    to: int | str = 0,
    level: Literal[1, 2, 3] = 1,
    notes: dict[str, str] | None = None,
    anything: Any = None,
    **more: bool,
) -> str:
    """Order articles.

    Args:
        lines: What to order.
        when: On which day.
        kind: Whether it is a gift.
        size: Of the box.
        to: The address, or its number.
        level: How urgent it is.
        notes: What to write on each box.
        anything: All else that there is.
        more: Switches.
    """
    return f"{len(lines)} lines"


@tool
async def draw() -> list[Any]:
    """Draw a picture, with a report."""
    return [
        "Drawn.",
        {"type": "image", "base64": "+vv8/f7/", "mime_type": "image/png"},
        {"type": "image", "url": "https://x.test/a.png"},
        {"type": "file", "base64": "JVBERi0xLjc=", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
        {"type": "file", "base64": "aGVsbG8=", "mime_type": "text/plain"},
        {"type": "file", "url": "https://x.test/a.pdf"},
    ]


@tool
async def fail() -> str:
    """Fail."""
    raise ToolException("No pencil.")
