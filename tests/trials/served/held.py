"""Tools that return and say much, and take whatever comes."""

from collections.abc import AsyncIterator
from typing import Any

from sidecall import ToolContext, tool


@tool
async def echo(value: Any) -> Any:
    """Return what comes.

    Args:
        value: What.
    """
    return value


@tool
async def add_all(numbers: list[int], names: dict[str, int] | None = None) -> int:
    """Add numbers.

    Args:
        numbers: What to add.
        names: Numbers by names.
    """
    return sum(numbers) + sum((names or {}).values())


@tool
async def report(times: int, *, context: ToolContext) -> str:
    """Say how far it is, without waiting for anything.

    Args:
        times: How often.
    """
    for number in range(times):
        await context.progress(number, times)
    return "done"


@tool
async def count(parts: int) -> AsyncIterator[str]:
    """Yield parts.

    Args:
        parts: How many.
    """
    for number in range(parts):
        yield f"{number}\n"


@tool
async def fill(megabytes: int) -> str:
    """Return a long text.

    Args:
        megabytes: How long.
    """
    return "x\n" * (megabytes * 500_000)


@tool(executor="process")
def list_values(count: int) -> list[dict[str, Any]]:
    """Return many values.

    Args:
        count: How many.
    """
    return [{"number": number, "text": f"value {number}"} for number in range(count)]


@tool(requires_approval=True)
async def approve(value: Any) -> str:
    """Do what a person approves.

    Args:
        value: What.
    """
    return str(value)[:10]
