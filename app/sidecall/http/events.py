"""Server-sent events, and the queue of those that wait for a client."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import to_json

from sidecall.core.jsonable import to_plain
from sidecall.http.backlog import Backlog
from sidecall.http.pieces import PIECE

MEDIA_TYPE = "text/event-stream"
# Seconds of silence after which a comment keeps proxies from closing the connection.
KEEP_ALIVE = 15.0
STILL_WORKING = b": still working\n\n"
# Events that wait for a slow reader; progress beyond that is dropped, answers never are.
_MOST = 256
_MOST_BYTES = 1024 * 1024


class Events:
    """A queue of events from tools, whatever thread they run in, for one reader."""

    def __init__(self, backlog: Backlog, when_cut: Callable[[], bytes]) -> None:
        """Begin with nothing.

        Args:
            backlog: What waits for all readers.
            when_cut: Is called when the reader is cut off, and says what its last event tells it.
        """
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._backlog = backlog
        self._when_cut = when_cut
        self._event = memoryview(b"")  # what the reader has not taken of the event that it is at
        self._is_torn = False
        self._is_closed = False
        self._lock = threading.Lock()
        self._coming = self._coming_bytes = 0
        self.size = 0

    def tell(self, kind: str, call_id: str, said: Mapping[str, Any]) -> None:
        """Queue a tool's progress, from any thread; drop it when the reader is too slow."""
        size = sum(len(text) for text in said.values() if type(text) is str)
        self.pass_on(lambda: write_event(kind, to_json(to_plain({"tool_call_id": call_id, **said}))), size)

    def pass_on(self, write: Callable[[], bytes], size: int) -> None:
        """Queue an event of about this size, from any thread; drop it when the reader is too slow."""
        if self._coming > _MOST or not self._has_room(size):
            return  # Before it is written, which takes longer than all the rest.
        with suppress(ValueError, RuntimeError):  # What JSON cannot say, and a loop that has ended.
            event = write()
            if self._coming_bytes + len(event) <= _MOST_BYTES:
                self._count_coming(1, len(event))
                self._loop.call_soon_threadsafe(self._offer, event)

    def _has_room(self, size: int) -> bool:
        return self.size + self._coming_bytes + size <= _MOST_BYTES and self._backlog.has_room(size)

    def _count_coming(self, count: int, size: int) -> None:
        with self._lock:
            self._coming += count
            self._coming_bytes += size

    def _offer(self, event: bytes) -> None:
        self._count_coming(-1, -len(event))
        size = len(event)
        if self._queue.qsize() < _MOST and self.size + size <= _MOST_BYTES and self._backlog.has_room(size):
            self._put(event)

    def _put(self, event: bytes) -> None:
        if not self._is_closed:
            self._queue.put_nowait(event)
            self.size += len(event)
            self._backlog.add(self, len(event))

    def answer(self, kind: str, body: bytes) -> None:
        """Queue an event that is never dropped, after all that came before it."""
        self._loop.call_soon(self._put, write_event(kind, body))

    def end(self) -> None:
        """End the events after those that wait."""
        self._loop.call_soon(self._queue.put_nowait, None)

    def cut(self) -> None:
        """Forget all that waits, take nothing more, and end the events with one that says so.

        Where only a part of an event has been sent, they end there: no reader takes it for a whole one.
        """
        self._is_torn = len(self._event) > PIECE
        last = write_event("error", self._when_cut())
        self.close()
        self._queue.put_nowait(last)
        self._queue.put_nowait(None)

    def close(self) -> None:
        """Forget all that waits and who listens, and take nothing more."""
        self._is_closed = True
        self._when_cut = bytes
        self._event = memoryview(b"")
        while not self._queue.empty():
            self._queue.get_nowait()
        size, self.size = self.size, 0
        self._backlog.take(self, size)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Give events in pieces; whoever asks for the next has sent the last, else it is given once more."""
        while not self._is_torn:
            if self._event:
                piece = bytes(self._event[:PIECE])
                yield piece
                self._took(len(piece))
                continue
            try:
                # Not `wait_for`, whose task may take an event and lose it when the reader is cancelled.
                async with asyncio.timeout(KEEP_ALIVE):
                    event = await self._queue.get()
            except TimeoutError:
                yield STILL_WORKING
                continue
            if event is None:
                return
            self._event = memoryview(event)
            del event  # Else it would stay when it is forgotten.

    def _took(self, size: int) -> None:
        self._event = self._event[size:]
        if not self._is_closed:
            self.size -= size
            self._backlog.take(self, size)


def write_event(kind: str, body: bytes, number: int | None = None) -> bytes:
    """Write an event; `body` is JSON on one line, with no newline that could end it early."""
    named = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (named, kind.encode(), body)
