"""Tools in processes that return much."""

from collections.abc import Iterator
from typing import Any

from sidecall import tool


@tool(executor="process")
def numbers(count: int) -> list[int]:
    """Return many numbers.

    Args:
        count: How many.
    """
    return list(range(count))


@tool(executor="process", response_format="content_and_artifact")
def packed(count: int) -> tuple[str, Any]:
    """Return many numbers beside a text.

    Args:
        count: How many.
    """
    return "see the artifact", {"numbers": list(range(count))}


@tool(executor="process")
def long_parts() -> Iterator[str]:
    """Yield the parts of a long text."""
    yield from ("x" * 10_000 for _ in range(100))
