"""Five thousand tools, as a server has them that offers the operations of large services."""

from typing import Any

from pydantic import BaseModel, Field

from sidecall import StructuredTool

MANY = 5000


class Wanted(BaseModel):
    """What to list."""

    account: str = Field(description="Whose items they are.")
    limit: int = Field(10, ge=1, le=100, description="The most to list.")
    labels: list[str] = []
    options: dict[str, str] | None = None


def work(**args: Any) -> str:
    """List items."""
    return str(len(args))


def _make(number: int) -> StructuredTool:
    text = f"List the items of service {number} in the order in which they were made, with their labels."
    name = f"service_{number}_list_items"
    return StructuredTool.from_function(work, name=name, description=text, args_schema=Wanted)


globals().update({f"tool_{number}": _make(number) for number in range(MANY)})
