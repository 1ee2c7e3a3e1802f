"""Tools that tell what belongs to one call only."""

import time
from contextvars import ContextVar

from sidecall import ToolContext, tool

_last: ContextVar[str] = ContextVar("last", default="nobody")


@tool(executor="process")
def succeed(name: str) -> str:
    """Say whose context this is, and take it over."""
    before = _last.get()
    _last.set(name)
    return before


@tool(executor="process")
def linger(context: ToolContext, seconds: float = 0.0) -> float | None:
    """Say how much time is left after a while."""
    time.sleep(seconds)
    return context.remaining
