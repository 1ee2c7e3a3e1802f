"""Write calls as JSON Lines, a page in memory at a time."""

from collections.abc import AsyncGenerator

from sidecall.features.calls.entry import CallFilter
from sidecall.features.calls.past_calls import list_calls
from sidecall.features.calls.remembered import show_entry
from sidecall.features.native_items.rest.received import DialectName
from sidecall.kernel.rest.parts import Parts

LINES = "application/x-ndjson"
# Calls of one page, which has fewer when they are large.
_PAGE = 32


async def export_calls(parts: Parts, wanted: CallFilter, form: DialectName) -> AsyncGenerator[bytes]:
    """Write each matching call as a line, newest first, with its message in this dialect."""
    cursor: str | None = None
    while True:
        page = await list_calls(parts, wanted, _PAGE, cursor, is_whole=True)
        for entry in page.calls:
            yield show_entry(entry, form) + b"\n"
        cursor = page.cursor
        if cursor is None:
            return
