"""A lock is read as it was written, and compared with tools."""

from typing import Any

import pytest

from sidecall import tool
from sidecall.features.contract.lock import InvalidLock, compare_tools, parse_lock, write_lock


@tool
async def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


@tool
async def old() -> str:
    """Be old."""
    return ""


@tool("add")
async def changed(a: int, b: int = 1, *, c: int) -> int:
    """Add three."""
    return a + b + c


@tool("add", deprecated="Use sum.")
async def leaving(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


def compare(before: list[Any], after: list[Any]) -> list[tuple[str, str, bool]]:
    """Lock some tools, and compare others with them."""
    locked = parse_lock(write_lock([it.compiled for it in before]))
    changes = compare_tools(locked, [it.compiled for it in after])
    return [(it.tool, it.change.text, it.change.breaks) for it in changes]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ([add, old], [old, add], []),
        ([add], [leaving], []),
        ([add, old], [add], [("old", "is not there any more", True)]),
        ([add], [add, old], [("old", "is new", False)]),
        (
            [add],
            [changed],
            [("add", "has another description", False), ("add", "c: is new, and required", True)],
        ),
    ],
)
def test_tools_are_compared_with_what_is_locked(before: Any, after: Any, changes: Any) -> None:
    """Their order says nothing, nor does that one will go."""
    assert compare(before, after) == changes


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "tools.lock is no lock of tools: Invalid JSON: EOF"),
        ('{"version": 2}', "tools.lock is no lock of tools: version: Input should be 1"),
        ('{"version": 1, "tools": {"a": 1}}', "tools.lock is no lock of tools: tools.a: Input should be"),
    ],
)
def test_what_is_no_lock_is_refused(text: str, why: str) -> None:
    """In words."""
    with pytest.raises(InvalidLock, match=why):
        parse_lock(text)
