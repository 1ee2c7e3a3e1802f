"""Turn an answer into an event stream when there is something to send before its end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.types import Scope, Send

from sidecall.features.mcp_server.progress import make_progress_listener
from sidecall.features.mcp_server.wire import Id, RpcError, write_error
from sidecall.kernel.concurrency.coroutines import await_rest, cancel_from_outside
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.http.backlog import Backlog
from sidecall.kernel.http.events import KEEP_ALIVE, MEDIA_TYPE, Events, write_event
from sidecall.kernel.http.request_id import NOSNIFF, header_of

T = TypeVar("T")

# About as long as a progress message.
_SIZE = 256

# The status for REST clients that read too slowly.
TOO_SLOW = RpcError(
    503, "The events were not read in time, so the call was cancelled; it may have had effects.", status=503
)


def head_of_stream(scope: Scope) -> dict[str, Any]:
    """Make the head of an answer that is a stream."""
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"cache-control", b"no-cache"),
        (b"x-accel-buffering", b"no"),
        NOSNIFF,
        header_of(scope),
    ]
    return {"type": "http.response.start", "status": 200, "headers": headers}


class StreamableAnswer:
    """The answer to one request: JSON if it comes soon and without progress, otherwise a stream.

    A stream begins with the first progress event, or after so much silence that proxies would close the connection.
    """

    def __init__(self, scope: Scope, send: Send, backlog: Backlog) -> None:
        self._scope = scope
        self._send = send
        self._backlog = backlog
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._events: Events | None = None
        self._writer: asyncio.Task[None] | None = None
        self.request_id: Id | None = None
        self.may_begin = True  # Unless the client reads no streams.
        self.is_cut = False
        self.is_cancelled = False

    @property
    def has_begun(self) -> bool:
        """Whether the answer is a stream."""
        return self._writer is not None

    async def over(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work of the answer; work that never waits needs no stream."""
        try:
            awaited = work.send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        self._task = asyncio.current_task()
        timer = self._loop.call_later(KEEP_ALIVE, self._begin)
        try:
            return await await_rest(work, awaited)
        finally:
            timer.cancel()
            self._task = None

    def make_listener(self, token: str | int) -> EventListener:
        """Make what tells the client of progress, and so makes this a stream."""
        events = self._open()

        def pass_on(write: Callable[[], bytes]) -> None:
            events.pass_on(lambda: write_event("message", write()), _SIZE)
            self._loop.call_soon_threadsafe(self._begin)

        return make_progress_listener(token, pass_on)

    def _open(self) -> Events:
        if self._events is None:
            self._events = Events(self._backlog, self._cut)
        return self._events

    def _begin(self) -> None:
        if self.may_begin and self._writer is None and not self.is_cut and self._task is not None:
            self._writer = asyncio.ensure_future(self._write(self._open()))

    async def _write(self, events: Events) -> None:
        await self._send(head_of_stream(self._scope))
        async for piece in events:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    def _cut(self) -> bytes:
        """Stop the work for a reader that is too slow, and return its error."""
        self.is_cut = True
        if self._task is not None:
            cancel_from_outside(self._task)
        return write_error(self.request_id, TOO_SLOW)

    def cancel(self) -> None:
        """Cancel the work on the client's request; work that never waits ends by itself."""
        if self._task is not None:
            self.is_cancelled = True
            cancel_from_outside(self._task)

    @staticmethod
    def was_ours() -> bool:
        """Return whether the task was cancelled by us alone, so that it continues."""
        task = asyncio.current_task()
        return task is not None and task.uncancel() == 0

    async def end(self, body: bytes | None = None) -> None:
        """End the stream, with this message."""
        assert self._events is not None
        assert self._writer is not None
        if body is not None:
            self._events.answer("message", body)
        if not self.is_cut:
            self._events.end()
        await self._writer

    def close(self) -> None:
        """Send nothing more."""
        if self._writer is not None:
            self._writer.cancel()
        if self._events is not None:
            self._events.close()
