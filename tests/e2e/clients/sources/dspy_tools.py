"""Tools as DSPy's pages have them: a search, a sum of options, an async one."""

import datetime
from typing import Any

import dspy
from pydantic import BaseModel

from sidecall import tool


class Point(BaseModel):
    """A point."""

    x: int
    y: int = 0


def find_pages(query: str, k: int = 2) -> list[str]:
    """Find pages."""
    if not query:
        raise ValueError("a query has words")
    return [f"{query} {number}" for number in range(k)]


def measure(points: list[Point], on: datetime.date) -> dict[str, Any]:
    """Measure a way."""
    return {"length": sum(abs(it.x) + abs(it.y) for it in points), "year": on.year}


async def translate(text: str, **options: str) -> str:
    """Translate a text."""
    return f"{text} {sorted(options.items())}"


dspy_tools = (dspy.Tool(find_pages), dspy.Tool(measure, name="measure_way"), dspy.Tool(translate))


@tool
async def dspy_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask DSPy itself."""
    known = {it.name: it for it in dspy_tools}
    return await known[name].acall(**args)
