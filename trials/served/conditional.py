"""Tools, one of which is offered to named callers only."""

from sidecall import Caller, tool
from trials.served.typed import approved, choose, fail_through, forbidden, kept, rows, waiting

__all__ = ["approved", "choose", "fail_through", "forbidden", "kept", "rows", "waiting", "whisper"]


def _is_named(caller: Caller) -> bool:
    return caller != Caller()


@tool(is_enabled=_is_named)
async def whisper() -> str:
    """Tell those who have a name."""
    return "psst"
