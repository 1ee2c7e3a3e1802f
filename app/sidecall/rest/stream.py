"""Answer calls as server-sent events: progress, and each answer as soon as it is ready."""

import asyncio
from collections.abc import Sequence

from msgspec import structs
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sidecall.http import problems
from sidecall.http.answer_headers import quota_headers
from sidecall.http.context import RequestContext
from sidecall.http.disconnect import DisconnectListener
from sidecall.http.fast_path import is_sent_in_chunks
from sidecall.http.problems import problem, shutdown_problem
from sidecall.http.request_id import NOSNIFF, header_of
from sidecall.http.server_sent_events import MEDIA_TYPE, Events
from sidecall.kernel.concurrency.coroutines import cancel_from_outside
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.pipeline.batch import run_batch
from sidecall.kernel.pipeline.gate import Ticket
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired
from sidecall.rest.answers import write_whole
from sidecall.rest.parsed_call import DialectName, ReceivedCall, make_request
from sidecall.rest.parts import Parts
from sidecall.rest.plain_calls import write_answer

_TOO_SLOW = "The events were not read in time."
_CUT = (
    "More waited for slow readers than this server keeps. What waited is gone, and calls that were not answered are "
    "cancelled, though their tools may have had effects."
)


# Of every stream; what is in one of its own stands behind them.
_HEADERS = (
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
    (b"content-type", f"{MEDIA_TYPE}; charset=utf-8".encode()),
    NOSNIFF,
)


class EventStream(Response):
    """Runs calls while their client listens; when it disconnects or reads too slowly, they are cancelled.

    If the server stops first, the last event says so.
    """

    def __init__(
        self,
        parts: Parts,
        request: Request,
        calls: Sequence[ReceivedCall] | ReceivedCall,
        context: RequestContext,
        form: DialectName | None,
    ) -> None:
        """Stream one call, or those of a batch."""
        # As the framework's own, which would first make up the headers of an answer that has a length.
        self.status_code, self.body, self.background = 200, b"", None
        own = quota_headers(parts.pipeline.gate.quotas_of(context.caller))
        written = [(name.lower().encode(), value.encode("latin-1")) for name, value in own.items()] if own else []
        self.raw_headers = [*_HEADERS, *written, header_of(request.scope)]
        self._parts = parts
        self._request = request
        self._calls = calls
        self._context = context
        self._form = form
        self._events = Events(parts.backlog, self._cut)
        self._work: asyncio.Task[None] | None = None
        self._has_begun = False
        self._unanswered = dict(enumerate([calls] if isinstance(calls, ReceivedCall) else calls))
        # Each answer is handed on alone, and counts no longer than that.
        self._holders = [object() for _ in self._unanswered]

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Let a single call pass the gate and begin, then send the status and the events as they come.

        Raises:
            Overloaded: There is no room for the call.
            ClientDisconnect: The client hung up while the call waited for its place.
        """
        entered: Ticket | ToolMessage | None = None
        try:
            entered = await self._enter()
            await self._stream(entered, receive, send)
        finally:
            if isinstance(entered, Ticket):
                entered.leave()  # Also of a call that never began.
            # Both know this stream; the request and its answer must not wait for the collector, which seldom comes.
            self._work = None
            self._events.close()
            self._release()

    def _release(self) -> None:
        if not self._parts.pipeline.results.shares:
            return
        for holder in self._holders:
            self._parts.pipeline.results.release(holder)

    async def _enter(self) -> Ticket | ToolMessage | None:
        """Pass the gate with a single call; those of a batch pass it later, so that each is refused in its place."""
        if not isinstance(self._calls, ReceivedCall) or self._parts.find_known_again(self._calls.call.name):
            return None
        entered = self._parts.pipeline.gate.begin_entry(self._make_request(0, self._calls))
        return entered if isinstance(entered, Ticket) else await self._context.while_present(entered)

    async def _stream(self, entered: Ticket | ToolMessage | None, receive: Receive, send: Send) -> None:
        self._work = work = asyncio.get_running_loop().create_task(self._do(entered))
        presence = self._context.presence or DisconnectListener(receive)
        try:
            # Most are over after one turn of the loop, so that head and events go out at once.
            await asyncio.sleep(0)
            if not work.done():
                presence.watch_over(work)
            await self._tell(send)
        except asyncio.CancelledError:
            if self._parts.lifecycle.is_draining:
                self._break_off()
                await self._tell(send)
            raise
        finally:
            presence.end()
            self._events.close()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)

    async def _tell(self, send: Send) -> None:
        """Send the status and the events until the stream ends; the end goes with the last of them."""
        if not self._has_begun:
            self._has_begun = True
            if self._is_sent_whole(send):
                return
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for piece in self._events:
            is_last = self._events.is_last_piece
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})
            if is_last:
                return
        await send({"type": "http.response.body", "body": b""})

    def _is_sent_whole(self, send: Send) -> bool:
        """Send a stream that has ended in one piece, if the server can do so."""
        whole = self._events.take_whole()
        return whole is not None and is_sent_in_chunks(self.raw_headers, whole, send)

    def _break_off(self) -> None:
        """Add an event that names the calls which the stopping server no longer awaits, if any."""
        if self._unanswered:
            ids = [sent.call.id for sent in self._unanswered.values()]
            self._events.answer("error", bytes(shutdown_problem(self._request, unanswered=ids).body))
        self._events.end()

    def _cut(self) -> bytes:
        """Stop working for a reader that is too slow, and return its last event."""
        if self._work is not None:
            cancel_from_outside(self._work)
        return bytes(problem(self._request, 503, "slow-reader", _TOO_SLOW, _CUT, retryable=True).body)

    async def _do(self, entered: Ticket | ToolMessage | None) -> None:
        try:
            if isinstance(self._calls, ReceivedCall):
                await self._answer_one(self._calls, entered)
            else:
                await self._answer_all()
        except Exception as error:
            response = await problems.answer(self._request, error)
            self._events.answer("problem", bytes(response.body))
        finally:
            self._release()  # A reader who stands still keeps nothing but what waits for it.
            self._events.end()

    def _make_request(self, index: int, sent: ReceivedCall) -> CallRequest:
        request = make_request(sent, self._context)
        request.sender = structs.replace(request.sender, holder=self._holders[index])
        request.listener = self._events.tell
        return request

    async def _answer_all(self) -> None:
        requests = [self._make_request(index, sent) for index, sent in self._unanswered.items()]
        await run_batch(self._run, self._parts.registry.get, requests, self._answer, self._parts.pipeline.portions)

    async def _run(self, request: CallRequest) -> ToolMessage:
        try:
            return await self._parts.run(request)
        except ApprovalRequired as waiting:
            self._announce(waiting.approval)
            raise

    async def _answer_one(self, sent: ReceivedCall, entered: Ticket | ToolMessage | None) -> None:
        try:
            if entered is None:
                message = await self._parts.run(self._make_request(0, sent))
            else:
                message = await self._parts.pipeline.answer(entered) if isinstance(entered, Ticket) else entered
        except ApprovalRequired as waiting:
            self._unanswered.clear()
            self._announce(waiting.approval)
        else:
            await self._answer(0, message)

    def _announce(self, approval: Approval) -> None:
        self._events.answer("approval", to_json(approval))

    async def _answer(self, index: int, message: ToolMessage) -> None:
        answer = write_answer(message, self._form or self._unanswered[index].dialect)
        body = await write_whole(self._parts, answer, message)
        del self._unanswered[index]
        self._events.answer("message", body)
        if self._parts.pipeline.results.shares:
            self._parts.pipeline.results.release(self._holders[index])
