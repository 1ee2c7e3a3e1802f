"""Tools whose calls and answers a server has to keep for slow clients."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from sidecall import tool

_MB = 1024 * 1024


@tool(requires_approval=True)
async def sign(rows: list[Any]) -> int:
    """Count the rows of a paper, once a person has approved it."""
    return len(rows)


@tool(response_format="content_and_artifact")
async def draw(megabytes: int) -> tuple[str, str]:
    """Return a large picture beside a short text."""
    return "see the picture", "x" * megabytes * _MB


@tool(response_format="content_and_artifact")
def draw_in_thread(megabytes: int) -> tuple[str, str]:
    """Do the same in a thread."""
    return "see the picture", "x" * megabytes * _MB


@tool(response_format="content_and_artifact", executor="process")
def draw_in_process(megabytes: int) -> tuple[str, str]:
    """Do the same in a process."""
    return "see the picture", "x" * megabytes * _MB


def _parts(megabytes: int, size: int) -> Iterator[str]:
    for _ in range(megabytes * _MB // size):
        yield "x" * size


@tool
async def recite(megabytes: int, size: int) -> AsyncIterator[str]:
    """Return a large text in parts."""
    for part in _parts(megabytes, size):
        yield part


@tool
def recite_in_thread(megabytes: int, size: int) -> Iterator[str]:
    """Do the same in a thread."""
    yield from _parts(megabytes, size)


@tool(executor="process")
def recite_in_process(megabytes: int, size: int) -> Iterator[str]:
    """Do the same in a process."""
    yield from _parts(megabytes, size)


@tool
async def write(megabytes: int) -> str:
    """Return a text that is kept whole, since no model reads so much."""
    return "x" * megabytes * _MB


@tool
async def pause(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "paused"
