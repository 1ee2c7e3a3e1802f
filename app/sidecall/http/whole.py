"""Answer a request in one piece."""

from collections.abc import Sequence

from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

Headers = Sequence[tuple[bytes, bytes]]


async def send_whole(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send status, headers (their names in lower case) and body.

    ASGI has two messages for that, and uvicorn makes a system call for each. Where nobody stands between uvicorn and
    us, both go out at once.
    """
    cycle = getattr(send, "__self__", None)
    if isinstance(cycle, RequestResponseCycle) and not cycle.access_log:
        await _write(cycle, status, headers, body)
        return
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _write(cycle: RequestResponseCycle, status: int, headers: Headers, body: bytes) -> None:
    """Do what `cycle.send` does for the two messages."""
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    cycle.response_started = True
    cycle.waiting_for_100_continue = False
    lines = [b"%b: %b\r\n" % header for header in (*cycle.default_headers, *headers)]
    if not cycle.keep_alive:
        lines.append(b"connection: close\r\n")
    cycle.transport.write(b"".join((STATUS_LINE[status], *lines, b"\r\n", body)))
    cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
