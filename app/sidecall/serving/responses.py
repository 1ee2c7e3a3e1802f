"""Write a response whose length is known in one piece.

ASGI has two messages for it, of which uvicorn makes two writes. Here the first waits for the second. A head that says
nothing of a length (a stream's, a 304's) is sent at once, and whatever is not plain is sent by uvicorn.
"""

from asyncio import Transport
from collections.abc import Awaitable
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from sidecall.serving.lingering import LingeringTransport


class WholeResponses:
    """Stand between uvicorn and the application, and send what the application answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Any) -> Awaitable[None]:
        """Serve one request, `send` being the method of one of uvicorn's cycles."""
        cycle = send.__self__
        if scope["method"] != "HEAD":  # of whose response there is only one piece
            send = _Response(cycle).send
        elif cycle.waiting_for_100_continue:
            cycle.keep_alive = False
        return self._app(scope, receive, send)


class _Response:
    """The response to one request; until its body comes nothing is sent, and uvicorn may still send another."""

    __slots__ = ("_cycle", "_head")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._head: Any = None

    async def send(self, message: Any) -> None:
        """Send a message of ASGI."""
        cycle = self._cycle
        # A client that was not told to send its body may do so or not: what came next could be either.
        cycle.keep_alive = cycle.keep_alive and not (cycle.waiting_for_100_continue and cycle.more_body)
        if message["type"] == "http.response.start" and not cycle.response_started:
            for name, _ in message.get("headers", ()):
                if name == b"content-length":
                    self._head = message
                    return
        head, self._head = self._head, None
        if head is None:
            await cycle.send(message)
        elif (text := self._write_down(head, message)) is None:
            await cycle.send(head)
            await cycle.send(message)
        else:
            if cycle.flow.write_paused and not cycle.disconnected:
                await cycle.flow.drain()
            if not cycle.disconnected:
                cycle.response_started = cycle.response_complete = True
                cycle.waiting_for_100_continue = False
                cycle.transport.write(text)
                cycle.message_event.set()
                cycle.on_response()

    def _write_down(self, head: Any, message: Any) -> bytes | None:
        """Return the bytes of the response, unless it is for uvicorn to write, or to refuse."""
        cycle, headers, body = self._cycle, head["headers"], message.get("body", b"")
        if cycle.more_body:
            cycle.transport = cast("Transport", LingeringTransport(cycle.transport))
        if (
            cycle.access_log
            or not cycle.keep_alive
            or message.get("more_body", False)
            or (b"content-length", b"%d" % len(body)) not in headers
        ):
            return None
        lines = [b"%b: %b\r\n" % header for header in (*cycle.default_headers, *headers)]
        text: bytes = STATUS_LINE[head["status"]] + b"".join(lines)
        return None if _is_special(text, len(lines) + 1) else text + b"\r\n" + body


def _is_special(text: bytes, lines: int) -> bool:
    """Return whether uvicorn has to see a head: it frames the body, ends the connection, or holds more than it says."""
    return (
        b"\r\nconnection: " in text
        or b"\r\ntransfer-encoding: " in text
        # More ends of lines than lines are a header that was smuggled into another.
        or text.count(b"\n") != lines
        or text.count(b"\r") != lines
        or b"\0" in text
    )
