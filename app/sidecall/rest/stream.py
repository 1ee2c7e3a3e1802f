"""Answer calls as server-sent events: how far they are, and each answer as soon as it is ready."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sidecall.core.approval import ApprovalRequired
from sidecall.core.invocation import CallRequest
from sidecall.core.jsonable import to_plain
from sidecall.core.messages import ToolMessage
from sidecall.http import problems
from sidecall.http.ending import ending
from sidecall.http.presence import DisconnectListener, until_gone
from sidecall.http.quota import quota_headers
from sidecall.pipeline.gate import Ticket
from sidecall.rest.answers import Terms, request_of
from sidecall.rest.dialects import ReceivedCall, write_answer
from sidecall.rest.parts import Parts

MEDIA_TYPE = "text/event-stream"
# A weight of zero says "not this" (RFC 9110 §12.4.2).
_REFUSED = re.compile(r"\bq=0(\.0*)?\s*(;|$)")
# Seconds of silence after which a comment keeps proxies from closing the connection.
_KEEP_ALIVE = 15.0
# Events that wait for a slow reader; progress beyond that is dropped, answers never are.
_MOST = 256
_MOST_BYTES = 1024 * 1024


def wants_events(request: Request) -> bool:
    """Return whether a client wants its answer as events."""
    for part in request.headers.get("accept", "").lower().split(","):
        media_type, _, parameters = part.partition(";")
        if media_type.strip() == MEDIA_TYPE:
            return _REFUSED.search(parameters) is None
    return False


class Events:
    """Collect events from tools, whatever thread they run in, for one reader."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._size = 0
        self._coming = 0

    def tell(self, kind: str, call_id: str, said: Mapping[str, Any]) -> None:
        """Take in what a tool says on its way; never blocks or harms the tool."""
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
        """Add an event that must arrive, after all that was told before it."""
        self._loop.call_soon(self._put, _frame(kind, body))

    def end(self) -> None:
        """End the events."""
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


class EventStream(Response):
    """Run calls while their client listens; when it hangs up they are cancelled.

    When the server ends before they do, the last event says so.
    """

    def __init__(
        self, parts: Parts, request: Request, calls: Sequence[ReceivedCall] | ReceivedCall, terms: Terms
    ) -> None:
        """Take one call, or those of a batch."""
        quota = quota_headers(parts.quota_of(parts.caller_of(request.headers)))
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", **quota}
        super().__init__(media_type=MEDIA_TYPE, headers=headers)
        del self.headers["content-length"]
        self._parts = parts
        self._request = request
        self._calls = calls
        self._terms = terms
        self._events = Events()
        self._unsent = b""
        self._unanswered = dict(enumerate([calls] if isinstance(calls, ReceivedCall) else calls))

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Let a single call pass the gate, then send the status and the events as they come.

        Raises:
            Overloaded: There is no room for the call.
            ClientDisconnect: The client hung up while the call waited for its place.
        """
        entered = await self._enter(receive)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._stream(entered, receive, send)
        finally:
            if isinstance(entered, Ticket):
                entered.leave()  # Also of a call that never began.

    async def _enter(self, receive: Receive) -> Ticket | ToolMessage | None:
        """Pass the gate with a single call; those of a batch pass it later, since each is refused in its place."""
        if not isinstance(self._calls, ReceivedCall):
            return None
        return await DisconnectListener(receive).over(self._parts.pipeline.gate.enter(self._make_request(self._calls)))

    async def _stream(self, entered: Ticket | ToolMessage | None, receive: Receive, send: Send) -> None:
        work = asyncio.ensure_future(self._work(entered))
        listener = asyncio.ensure_future(self._until_gone(receive, work))
        try:
            await self._tell(send)
        except asyncio.CancelledError:
            if self._parts.lifecycle.is_draining:
                self._break_off()
                await self._tell(send)
            raise
        finally:
            listener.cancel()
            work.cancel()
            await asyncio.gather(work, listener, return_exceptions=True)

    async def _tell(self, send: Send) -> None:
        """Send events until there are no more, beginning with one whose sending was interrupted."""
        if self._unsent:
            await send({"type": "http.response.body", "body": self._unsent, "more_body": True})
        async for event in self._events:
            self._unsent = event
            await send({"type": "http.response.body", "body": event, "more_body": True})
            self._unsent = b""
        await send({"type": "http.response.body", "body": b""})

    def _break_off(self) -> None:
        """Add an event that names the calls which the server does not wait for any longer, if there are any."""
        if self._unanswered:
            ids = [sent.call.id for sent in self._unanswered.values()]
            self._events.answer("error", bytes(ending(self._request, unanswered=ids).body))
        self._events.end()

    @staticmethod
    async def _until_gone(receive: Receive, work: asyncio.Future[None]) -> None:
        await until_gone(receive)
        work.cancel()

    async def _work(self, entered: Ticket | ToolMessage | None) -> None:
        try:
            if entered is None:
                await self._answer_all()
            else:
                await self._answer_one(entered)
        except Exception as error:
            response = await problems.answer(self._request, error)
            self._events.answer("problem", bytes(response.body))
        finally:
            self._events.end()

    def _make_request(self, sent: ReceivedCall) -> CallRequest:
        return replace(request_of(self._parts, sent, self._request.headers, self._terms), listener=self._events.tell)

    async def _answer_all(self) -> None:
        requests = [self._make_request(sent) for sent in self._unanswered.values()]
        await self._parts.pipeline.run_all(requests, self._answer)

    async def _answer_one(self, entered: Ticket | ToolMessage) -> None:
        try:
            message = await self._parts.pipeline.answer(entered) if isinstance(entered, Ticket) else entered
        except ApprovalRequired as waiting:
            self._unanswered.clear()
            self._events.answer("approval", to_json(waiting.approval))
        else:
            self._answer(0, message)

    def _answer(self, index: int, message: ToolMessage) -> None:
        sent = self._unanswered.pop(index)
        self._events.answer("message", to_json(write_answer(message, self._terms.form or sent.dialect)))
