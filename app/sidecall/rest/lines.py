"""Write calls as JSON Lines, a page in memory at a time."""

from collections.abc import AsyncIterator

from sidecall.core.calls.entry import CallFilter
from sidecall.rest.native.received import DialectName
from sidecall.rest.parts import Parts
from sidecall.rest.past_calls import list_calls
from sidecall.rest.remembered import show_entry

LINES = "application/x-ndjson"
# Calls of one page; an answer may be megabytes long.
_PAGE = 32


async def export_calls(parts: Parts, wanted: CallFilter, form: DialectName) -> AsyncIterator[bytes]:
    """Write each call that is wanted as a line, newest first, its message in this dialect."""
    cursor: str | None = None
    while True:
        page = await list_calls(parts, wanted, _PAGE, cursor)
        for entry in page.calls:
            yield show_entry(entry, form) + b"\n"
        cursor = page.cursor
        if cursor is None:
            return


async def wait_for_first(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Wait for the first line, so that an error before it can be answered with a status."""
    try:
        first = await anext(lines)
    except StopAsyncIteration:
        return _join(b"", lines)
    return _join(first, lines)


async def _join(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if first:
        yield first
    async for line in rest:
        yield line
