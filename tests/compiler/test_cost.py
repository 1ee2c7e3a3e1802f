"""A tool is compiled in not many more steps than its model and schema take, however busy the machine is."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from pydantic import create_model

from sidecall import StructuredTool

_TIMES = 10
# Function calls of a tool, divided by those of pydantic's model and schema of the same parameters.
_MOST = 0.95


async def search(query: str, limit: int = 3, exact: bool = False) -> str:
    """Search.

    Args:
        query: What for.
        limit: How many.
        exact: Whether as written.
    """
    return query * limit if exact else query


def _count(work: Callable[[], Any]) -> int:
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    work()  # What is made once.
    sys.setprofile(note)
    try:
        for _ in range(_TIMES):
            work()
    finally:
        sys.setprofile(None)
    return count


def test_a_tool_costs_little_more_than_its_model() -> None:
    """Defaults of plain types need no validation, and plain results no model."""
    ours = _count(lambda: StructuredTool.from_function(coroutine=search, name="search", description="x").compiled)
    theirs = _count(
        lambda: create_model("M", query=(str, ...), limit=(int, 3), exact=(bool, False)).model_json_schema()
    )

    assert ours / theirs <= _MOST
