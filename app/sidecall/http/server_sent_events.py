"""Server-sent events with the queue of a client's events, and other answers in pieces."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from fastapi import Response
from pydantic_core import to_json
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from sidecall.http.backlog import Backlog
from sidecall.http.disconnect import DisconnectListener
from sidecall.kernel.concurrency.backpressure import HeldPart, Pause, Reading
from sidecall.kernel.json_data.to_json import write_plainly

MEDIA_TYPE = "text/event-stream"
# Seconds of silence after which a comment keeps proxies from closing the connection.
KEEP_ALIVE = 15.0

STILL_WORKING = b": still working\n\n"
# Events that wait for a reader. Beyond that generators wait, other progress is left out; answers never are.
_MOST = 256

_MOST_BYTES = 1024 * 1024
_NOTHING = memoryview(b"")


class Events:
    """Queue of events from tools, in any thread, for one reader."""

    # Thousands may wait at once.
    __slots__ = (
        "_backlog",
        "_coming",
        "_coming_bytes",
        "_event",
        "_is_closed",
        "_is_torn",
        "_joined",
        "_lock",
        "_loop",
        "_missed",
        "_queue",
        "_reading",
        "_waiter",
        "_when_cut",
        "size",
    )

    def __init__(self, backlog: Backlog, when_cut: Callable[[], bytes]) -> None:
        """Begin with nothing.

        Args:
            backlog: What waits for all readers.
            when_cut: Is called when the reader is cut off, and says what its last event tells it.
        """
        self._loop = asyncio.get_running_loop()
        # Short, as `_MOST` says, and most often empty, where a deque would take up 700 bytes.
        self._queue: list[bytes | None] = []
        self._waiter: asyncio.Future[bool] | None = None  # of the reader, while nothing is queued
        self._backlog = backlog
        self._when_cut = when_cut
        self._event = _NOTHING  # what the reader has not taken of the events that it is at
        self._joined = 0  # how many these are besides one
        self._is_torn = False
        self._is_closed = False
        self._lock = threading.Lock()
        self._coming: list[bytes] = []  # from any thread, since the loop was woken for it
        self._coming_bytes = 0
        self._reading = Reading(self._loop)
        self._missed: dict[str, int] = {}  # by the ids of calls, what was left out and not yet told
        self.size = 0

    def tell(self, kind: str, call_id: str, said: Mapping[str, Any]) -> Pause | None:
        """Queue an event of a tool, from any thread; without room, return the held part."""
        size = 0
        for text in said.values():
            size += len(text) if type(text) is str else 0

        def write() -> bytes:
            return write_event(kind, write_plainly({"tool_call_id": call_id, **said}))

        if self.pass_on(write, size):
            return None
        return HeldPart(self._reading, partial(self._take_held, write, size), partial(self._miss, call_id))

    def pass_on(self, write: Callable[[], bytes], size: int) -> bool:
        """Queue an event of about this size, from any thread; return False if there is no room."""
        # Before it is written, which takes longer than all the rest.
        return self._has_room(size) and self._write(write, self._has_room)

    def _take_held(self, write: Callable[[], bytes], size: int) -> bool:
        """Queue a held part once there is room, or if nothing else is queued for this reader.

        So an active reader gets all parts even while stalled readers fill the shared room.
        """
        if self._is_closed:
            return True
        return self._has_room(size, is_held=True) and self._write(write, partial(self._has_room, is_held=True))

    def _has_room(self, size: int, *, is_held: bool = False) -> bool:
        # Spelled out, since every event asks twice.
        count, waiting = len(self._coming) + len(self._queue) + self._joined, self._coming_bytes + self.size
        if is_held and not count and not waiting:
            return True
        return count < _MOST and waiting + size <= _MOST_BYTES and self._backlog.has_room(size)

    @property
    def _count(self) -> int:
        return len(self._coming) + len(self._queue) + self._joined

    def _write(self, write: Callable[[], bytes], has_room: Callable[[int], bool]) -> bool:
        try:
            event = write()
            with self._lock:
                if not has_room(len(event)):
                    return False
                is_first = not self._coming
                self._coming.append(event)
                self._coming_bytes += len(event)
            if is_first:  # What comes before the loop has its turn is taken in with it.
                self._loop.call_soon_threadsafe(self._take_in)
        except (ValueError, RuntimeError):  # What JSON cannot say, and a loop that has ended.
            pass
        return True

    def _take_in(self) -> None:
        if not self._coming:
            return
        with self._lock:
            coming, self._coming, self._coming_bytes = self._coming, [], 0
        for event in coming:
            self._put(event)

    def _miss(self, call_id: str) -> None:
        """Count an event of a call that was dropped."""
        with self._lock:
            self._missed[call_id] = self._missed.get(call_id, 0) + 1

    def _put(self, event: bytes) -> None:
        """Queue an event, after one for each call that says how many were dropped since the last."""
        if self._is_closed:
            return
        if self._missed:
            with self._lock:
                missed, self._missed = self._missed, {}
            told = [to_json({"tool_call_id": call_id, "count": count}) for call_id, count in missed.items()]
            event = b"".join([*(write_event("missed", it) for it in told), event])
        self._queue.append(event)
        self.size += len(event)
        if self._waiter is not None:
            self._wake(has_event=True)
        self._backlog.add(self, len(event))

    def _wake(self, *, has_event: bool) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(has_event)

    def answer(self, kind: str, body: bytes) -> None:
        """Queue an event that is never dropped, after the present ones."""
        self._take_in()
        self._put(write_event(kind, body))

    def end(self) -> None:
        """End the stream after the queued events."""
        self._take_in()
        self._queue.append(None)
        self._wake(has_event=True)

    def cut(self) -> None:
        """Discard the queue, accept nothing more, and end the stream with an event that says so.

        If an event was partly sent, the stream ends there; readers do not take it for a complete one.
        """
        self._is_torn = len(self._event) > PIECE
        last = write_event("error", self._when_cut())
        self.close()
        self._queue += (last, None)
        self._wake(has_event=True)

    def close(self) -> None:
        """Discard the queue and the listeners, and accept nothing more."""
        self._is_closed = True
        self._when_cut = bytes
        self._event = _NOTHING
        self._joined = 0
        self._queue.clear()
        size, self.size = self.size, 0
        self._backlog.take(self, size)
        self._reading.wake()

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Read events in pieces; asking for the next confirms the last, which is otherwise read again."""
        return _Pieces(self)

    def take_piece(self) -> bytes | None:
        """Return what can be sent now, to be confirmed with `confirm`; b"" if nothing waits, None at the end."""
        if self._is_torn:
            return None
        if not self._event:
            if not self._queue:
                return b""
            event = self._queue.pop(0)
            if event is None:
                return None
            self._event = memoryview(self._join(event))
        return bytes(self._event[:PIECE])

    def take_whole(self) -> bytes | None:
        """Return what a piece would have, if the stream has ended and nothing follows; else None."""
        if len(self._queue) < 2 or self._queue[-1] is not None:
            return None
        piece = self.take_piece()
        return piece if self.is_last_piece else None

    @property
    def is_last_piece(self) -> bool:
        """Whether the stream ends with the piece that was yielded last."""
        return len(self._event) <= PIECE and bool(self._queue) and self._queue[0] is None

    async def wait(self) -> bool:
        """Wait until something is queued; return False after a silence that a comment should end."""
        self._waiter = self._loop.create_future()
        timer = self._loop.call_later(KEEP_ALIVE, self._end_silence)
        try:
            return await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _end_silence(self) -> None:
        self._wake(has_event=False)

    def _join(self, first: bytes) -> bytes:
        """Return an event with the queued ones that fit into a piece with it; none is torn for that."""
        joined, size = [first], len(first)
        for event in self._queue:
            if event is None or size + len(event) > PIECE:
                break
            joined.append(event)
            size += len(event)
        self._joined = len(joined) - 1
        del self._queue[: self._joined]
        return b"".join(joined) if self._joined else first

    def confirm(self, size: int) -> None:
        """Note that so many bytes of the present piece were sent."""
        self._event = self._event[size:] or _NOTHING  # which keeps no event that was sent
        self._joined = 0
        if not self._is_closed:
            self.size -= size
            self._backlog.take(self, size)
            self._reading.note_taken()
            if self._count <= _MOST // 2 and self.size <= _MOST_BYTES // 2:
                self._reading.wake()


class _Pieces:
    """Reads a queue's pieces; a generator would be one more thing that the event loop keeps, and ends by itself."""

    __slots__ = ("_events", "_unconfirmed")

    def __init__(self, events: Events) -> None:
        self._events = events
        self._unconfirmed = 0

    def __aiter__(self) -> "_Pieces":
        return self

    async def __anext__(self) -> bytes:
        if self._unconfirmed:
            self._events.confirm(self._unconfirmed)
            self._unconfirmed = 0
        while not (piece := self._events.take_piece()):
            if piece is None:
                raise StopAsyncIteration
            if not await self._events.wait():
                return STILL_WORKING
        self._unconfirmed = len(piece)
        return piece


def write_event(kind: str, body: bytes, number: int | None = None) -> bytes:
    """Write an event; `body` is JSON on one line, with no newline that could end it early."""
    named = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (named, kind.encode(), body)


# What the network takes at once before it lets a sender wait.
PIECE = 64 * 1024


class InPieces(Response):
    """A response whose body, or the buffer behind it, may be shared; unsent parts are not copied."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the head, then the pieces in sequence."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = memoryview(self.body)
        for start in range(0, len(body) or 1, PIECE):
            piece, is_last = bytes(body[start : start + PIECE]), start + PIECE >= len(body)
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})


class PieceStream(Response):
    """A response of unknown length.

    The framework's own leaves the producer to the garbage collector when the client disconnects, which may take long
    and keeps everything it holds.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        first: bytes = b"",
        *,
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Take what makes the pieces, and the first one where it was made before, so that it could fail with a status.

        The pieces are closed in any case.
        """
        super().__init__(media_type=media_type, headers=headers)
        del self.headers["content-length"]
        self._first = first
        self._pieces = pieces

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send each piece once the one before is on its way."""
        with suppress(ClientDisconnect):  # The client has gone.
            await DisconnectListener(receive).over(self._send(send))

    async def _send(self, send: Send) -> None:
        async with aclosing(self._pieces) as pieces:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            first, self._first = self._first, b""
            if first:
                await send({"type": "http.response.body", "body": first, "more_body": True})
                del first
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
