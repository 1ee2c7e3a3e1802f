"""Server-sent events: whether a client wants them, and the queue of those that wait for it."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request

from sidecall.core.jsonable import to_plain

MEDIA_TYPE = "text/event-stream"
# A weight of zero means "not this" (RFC 9110 §12.4.2).
_REFUSED = re.compile(r"\bq=0(\.0*)?\s*(;|$)")
# Seconds of silence after which a comment keeps proxies from closing the connection.
_KEEP_ALIVE = 15.0
# Events that wait for a slow reader; progress beyond that is dropped, answers never are.
_MOST = 256
_MOST_BYTES = 1024 * 1024


def wants_events(request: Request) -> bool:
    """Return whether a client wants its answer as server-sent events."""
    for part in request.headers.get("accept", "").lower().split(","):
        media_type, _, parameters = part.partition(";")
        if media_type.strip() == MEDIA_TYPE:
            return _REFUSED.search(parameters) is None
    return False


class Events:
    """A queue of events from tools, whatever thread they run in, for one reader."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._size = 0
        self._coming = 0

    def tell(self, kind: str, call_id: str, said: Mapping[str, Any]) -> None:
        """Queue a tool's progress, from any thread; drop it when the reader is too slow."""
        if self._coming > _MOST:
            return  # A burst that the reader's loop has not seen yet.
        with suppress(ValueError, RuntimeError):  # What JSON cannot say, and a loop that has ended.
            event = _frame(kind, to_json(to_plain({"tool_call_id": call_id, **said})))
            self._coming += 1
            self._loop.call_soon_threadsafe(self._offer, event)

    def _offer(self, event: bytes) -> None:
        self._coming -= 1
        if self._queue.qsize() < _MOST and self._size + len(event) <= _MOST_BYTES:
            self._put(event)

    def _put(self, event: bytes) -> None:
        self._size += len(event)
        self._queue.put_nowait(event)

    def answer(self, kind: str, body: bytes) -> None:
        """Queue an event that is never dropped, after all that came before it."""
        self._loop.call_soon(self._put, _frame(kind, body))

    def end(self) -> None:
        """End the events after those that wait."""
        self._loop.call_soon(self._queue.put_nowait, None)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            try:
                # Not `wait_for`, whose task may take an event and lose it when the reader is cancelled.
                async with asyncio.timeout(_KEEP_ALIVE):
                    event = await self._queue.get()
            except TimeoutError:
                yield b": still working\n\n"
                continue
            if event is None:
                return
            self._size -= len(event)
            yield event


def _frame(kind: str, body: bytes) -> bytes:
    # JSON on one line has no newline that could end the event early.
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), body)
