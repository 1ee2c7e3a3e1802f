"""Answer calls as server-sent events: how far they are, and each answer as soon as it is ready."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sidecall.core.approval import ApprovalRequired
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.http import problems
from sidecall.http.context import RequestContext
from sidecall.http.events import MEDIA_TYPE, Events
from sidecall.http.presence import until_gone
from sidecall.http.quota import quota_headers
from sidecall.http.shutdown import shutdown_problem
from sidecall.pipeline.gate import Ticket
from sidecall.rest.answers import make_request
from sidecall.rest.dialects import DialectName, ReceivedCall, write_answer
from sidecall.rest.parts import Parts


class EventStream(Response):
    """Run calls while their client listens; when it hangs up they are cancelled.

    When the server ends before they do, the last event says so.
    """

    def __init__(
        self,
        parts: Parts,
        request: Request,
        calls: Sequence[ReceivedCall] | ReceivedCall,
        context: RequestContext,
        form: DialectName | None,
    ) -> None:
        """Take one call, or those of a batch."""
        quota = quota_headers(parts.quota_of(context.caller))
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", **quota}
        super().__init__(media_type=MEDIA_TYPE, headers=headers)
        del self.headers["content-length"]
        self._parts = parts
        self._request = request
        self._calls = calls
        self._context = context
        self._form = form
        self._events = Events()
        self._unsent = b""
        self._unanswered = dict(enumerate([calls] if isinstance(calls, ReceivedCall) else calls))

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Let a single call pass the gate, then send the status and the events as they come.

        Raises:
            Overloaded: There is no room for the call.
            ClientDisconnect: The client hung up while the call waited for its place.
        """
        entered = await self._enter()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._stream(entered, receive, send)
        finally:
            if isinstance(entered, Ticket):
                entered.leave()  # Also of a call that never began.

    async def _enter(self) -> Ticket | ToolMessage | None:
        """Pass the gate with a single call; those of a batch pass it later, since each is refused in its place."""
        if not isinstance(self._calls, ReceivedCall):
            return None
        return await self._context.while_present(self._parts.pipeline.gate.enter(self._make_request(self._calls)))

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
            self._events.answer("error", bytes(shutdown_problem(self._request, unanswered=ids).body))
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
        return replace(make_request(sent, self._context), listener=self._events.tell)

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
        self._events.answer("message", to_json(write_answer(message, self._form or sent.dialect)))
