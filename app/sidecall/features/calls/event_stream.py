"""Answer with server-sent events of one call, until it has ended."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing

from pydantic_core import to_json
from starlette.requests import Request

from sidecall.features.calls.all_calls import list_calls
from sidecall.features.jobs.answers import show_entry
from sidecall.features.jobs.event_log import LoggedEvent
from sidecall.features.jobs.notification_handler import Sights
from sidecall.features.server_parts import Parts
from sidecall.http import problems
from sidecall.http.problems import shutdown_problem
from sidecall.http.server_sent_events import KEEP_ALIVE, PIECE, STILL_WORKING, write_event
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter
from sidecall.rest.parsed_call import DialectName
from sidecall.rest.plain_calls import write_answer

# The event id of every call's answer, by which any server knows that a client has it.
LAST = 999_999_999
# Bytes of events that are sent at once, which is much cheaper.
_PORTION = 16 * 1024
# OpenAPI 3.1 cannot describe the items of a stream.
EVENTS = {
    "type": "string",
    "description": (
        "Server-sent events. Each has an `id`, a number of up to nine digits; an `event`: `status`, `progress`,"
        " `partial`, `missed`, `message`, `error` or `problem`; and `data`, the text of a JSON object."
    ),
}


def read_last(request: Request) -> int:
    """Return the id of the last event that a client has received; 0 if it has none of ours."""
    text = request.headers.get("last-event-id", "")
    return min(int(text), LAST) if text.isascii() and text.isdecimal() and len(text) <= len(str(LAST)) else 0


async def write_call_events(
    parts: Parts, request: Request, entry: CallEntry, after: int, form: DialectName
) -> AsyncGenerator[bytes]:
    """Write what happens to a call, and at last its answer in this dialect."""
    if not entry.is_durable:  # It has ended, and the events of its tool are not here.
        for piece in _write_message(entry, form):
            yield piece
        return
    try:
        async with aclosing(_write(parts, request, parts.jobs.watch(entry, after), form)) as pieces:
            async for piece in pieces:
                yield piece
    except RequestError as error:
        yield write_event("problem", bytes((await problems.answer(request, error)).body))


async def _write(parts: Parts, request: Request, sights: Sights, form: DialectName) -> AsyncGenerator[bytes]:
    spoken = time.monotonic()
    async with aclosing(sights):
        async for sight in sights:
            if isinstance(sight, CallEntry):
                for piece in _write_message(sight, form):
                    yield piece
            elif parts.lifecycle.is_draining:
                yield write_event("error", bytes(shutdown_problem(request).body))
                return
            elif sight is not None:
                async for portion in write_updates(sight):
                    yield portion
                spoken = time.monotonic()
            elif time.monotonic() - spoken >= KEEP_ALIVE:
                yield STILL_WORKING
                spoken = time.monotonic()


async def write_updates(happenings: Sequence[LoggedEvent]) -> AsyncIterator[bytes]:
    """Write events in a few pieces, and yield to other tasks in between, since many clients may read at once."""
    for portion in _join(happenings):
        yield portion
        await asyncio.sleep(0)


def _join(happenings: Sequence[LoggedEvent]) -> Iterator[bytes]:
    portion, size = list[bytes](), 0
    for happening in happenings:
        event = happening.write(write_event)
        if portion and size + len(event) > _PORTION:
            yield b"".join(portion)
            portion, size = [], 0
        portion.append(event)
        size += len(event)
    yield b"".join(portion)


def _write_message(entry: CallEntry, form: DialectName) -> Iterator[bytes]:
    assert entry.message is not None
    event = memoryview(write_event("message", to_json(write_answer(entry.message, form)), LAST))
    for start in range(0, len(event), PIECE):  # A slow reader holds up one piece, rather than a copy of all.
        yield bytes(event[start : start + PIECE])


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
