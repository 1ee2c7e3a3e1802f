"""Answer a request; a response of known length is written at once.

ASGI sends head and body as two messages, and uvicorn writes each. Here the head waits for the body. A head without a
length (a stream's, a 304's) is sent at once, and unusual responses are sent by uvicorn.
"""

import asyncio
from asyncio import BaseProtocol, Protocol, Transport
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, cast

from msgspec import Struct
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from sidecall.http.backlog import Backlog
from sidecall.http.fast_path import DirectResponse, Reply
from sidecall.http.request_id import HEADER, NOSNIFF
from sidecall.kernel.concurrency.coroutines import settle


class Signal(Struct, eq=False):
    """An event as asyncio's, which takes up room only while a listener waits for it: there are several per request.

    What is to be told at once is called with each `set`.
    """

    is_set: bool = False
    tell: Callable[[], None] | None = None
    waiting: tuple[asyncio.Future[None], ...] = ()

    def set(self) -> None:
        """Set the event, and wake all who wait."""
        self.is_set = True
        if self.waiting:
            for waiting in self.waiting:
                settle(waiting)
        if self.tell is not None:
            self.tell()

    def clear(self) -> None:
        """Reset the event."""
        self.is_set = False

    async def wait(self) -> None:
        """Wait for the event."""
        if self.is_set:
            return
        waiting = asyncio.get_running_loop().create_future()
        self.waiting = (*self.waiting, waiting)
        try:
            await waiting
        finally:
            self.waiting = tuple(it for it in self.waiting if it is not waiting)


class Flow(FlowControl):
    """Uvicorn's flow control with a hold: while reading is held, the application gets no more bytes.

    Unsent bytes count with the events that wait for other clients. Beyond the bound, the client is cut off.

    Attributes:
        is_held: Whether a request waits until those before it are answered.
        is_behind: Whether bytes that have come wait until it is their turn to be read.
    """

    def __init__(self, transport: Transport, backlog: Backlog) -> None:
        # As uvicorn's own, with a lighter event.
        self._transport = transport
        self.read_paused = self.write_paused = self.is_held = self.is_behind = False
        writable = Signal()
        writable.set()
        self._is_writable_event = cast("asyncio.Event", writable)
        self._backlog = backlog
        self.size = 0

    def resume_reading(self) -> None:
        """Resume reading, unless it is held or behind."""
        if self.read_paused and not self.is_held and not self.is_behind:
            super().resume_reading()

    def fall_behind(self) -> None:
        """Stop reading until what has come is read."""
        self.is_behind = True
        self.pause_reading()

    def listen(self) -> None:
        """Resume reading although it is held, to detect a disconnect."""
        super().resume_reading()

    def resume_writing(self) -> None:
        """Resume writing: the client has read what there was, or has disconnected."""
        super().resume_writing()
        self.forget()

    def keep(self, size: int) -> None:
        """Count bytes of an answer, which stay in memory until all of them are sent."""
        self.size += size
        self._backlog.add(self, size)

    def look(self, unread: int, *, is_moving: bool) -> None:
        """Raise the count to `unread`, and note whether the client reads, if slowly."""
        if is_moving:
            self._backlog.take(self, 0)
        if not unread:
            self.forget()
        elif unread > self.size:
            self.keep(unread - self.size)

    def forget(self) -> None:
        """Reset the count."""
        size, self.size = self.size, 0
        if size:
            self._backlog.take(self, size)

    def cut(self) -> None:
        """Stop sending, and disconnect."""
        self.forget()
        self._transport.abort()


# With these uvicorn frames the body otherwise, or ends the connection.
_FRAMING = frozenset((b"connection", b"transfer-encoding"))

_OK = 200
# What stands behind the length of a plain answer, and what between the headers that it has of its own and its id.
_TYPE = b"\r\ncontent-type: application/json"

_NOSNIFF = b"\r\n%b: %b\r\n%b: " % (*NOSNIFF, HEADER)

# A whole answer that does not say its length: its headers, and its body as the only chunk.
_CHUNKED = STATUS_LINE[_OK] + b"%btransfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"

# Headers of answers that are kept as they are sent.
_LINES = 256
# Bytes from which on a copy of a body costs more than a second write.
_LARGE = 256 * 1024


class Cycle(RequestResponseCycle, DirectResponse):
    """A request and its response; the head is held back until the body comes."""

    flow: Flow
    message_event: Signal  # type: ignore[assignment]  # as an event
    # In which it is answered.
    task: asyncio.Task[None]
    # Of an answer that uvicorn sends.
    chunked_encoding = None
    expected_content_length = 0
    _head: Any = None

    def __init__(self, connection: HttpToolsProtocol) -> None:
        # As uvicorn's own, which takes twice as long by what it is handed.
        self.scope = scope = connection.scope
        self.transport = connection.transport
        self.flow = connection.flow  # type: ignore[assignment]  # that of our connections
        self.logger = connection.logger
        self.access_logger = connection.access_logger
        self.access_log = connection.access_log
        self.default_headers = connection.server_state.default_headers
        self.message_event = Signal()
        self.on_response = connection.on_response_complete
        self.disconnected = False
        self.keep_alive = scope["http_version"] != "1.0" and connection.parser.should_keep_alive()
        self.waiting_for_100_continue = connection.expect_100_continue
        self.body = bytearray()
        self.more_body = True
        self.response_started = False
        self.response_complete = False

    async def receive(self) -> Any:
        """Receive an ASGI message; one that has arrived is returned without waiting."""
        if (
            self.waiting_for_100_continue
            or self.disconnected
            or self.response_complete
            or not self.message_event.is_set
        ):
            return await super().receive()
        if self.flow.read_paused:
            self.flow.resume_reading()
        self.message_event.clear()
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    def take_body(self) -> bytes | None:
        """Return the body if it has arrived completely; else None, and it must be received."""
        event = self.message_event
        if (
            self.more_body
            or self.waiting_for_100_continue
            or self.disconnected
            or self.response_complete
            or not event.is_set
        ):
            return None
        if self.flow.read_paused:
            self.flow.resume_reading()
        event.is_set = False  # As `clear` does.
        body, self.body = bytes(self.body), bytearray()
        return body

    def watch(self, gone: Callable[[], None] | None) -> bool:
        """Call `gone` when the client disconnects; None ends that. Return False if it has to be received."""
        event = self.message_event
        if gone is None:
            event.tell = None
            return True
        if self.more_body or self.response_complete or event.is_set or event.tell is not None:
            return False
        if self.flow.read_paused:
            self.flow.resume_reading()
        event.tell = partial(self._tell, gone)
        return True

    def _tell(self, gone: Callable[[], None]) -> None:
        if self.disconnected or self.response_complete:
            self.message_event.tell = None
            gone()

    def answer(self, reply: Reply, request_id: bytes) -> bool:
        """Write a whole answer; return False if it is unusual and must be sent as ASGI messages."""
        body = reply.body
        if reply.status != _OK or self._needs_messages(body):
            return False
        more = _write_lines(reply.headers) if reply.headers else b""  # Few answers have any of their own.
        if more is None:
            return False
        self.response_started = self.response_complete = True
        head = _write_beginning(*self.default_headers)
        parts = (head, len(body), _TYPE, more, _NOSNIFF, request_id, body)
        self.transport.write(b"%b%d%b%b%b%b\r\n\r\n%b" % parts)
        event = self.message_event
        if event.tell is not None or event.waiting:  # What is received from now on is the end in any case.
            event.set()
        self.on_response()
        if self.flow.write_paused:
            self.flow.keep(len(body))
        return True

    def answer_in_chunks(self, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bool:
        """Write a whole answer without a length; return False if it is unusual and must be sent as ASGI messages."""
        if not body or self._needs_messages(body):
            return False
        lines = _write_headers((*self.default_headers, *headers), None)
        if lines is None:
            return False
        self._write_whole(_CHUNKED % (lines, len(body), body))
        if self.flow.write_paused:
            self.flow.keep(len(body))
        return True

    def _needs_messages(self, body: bytes) -> bool:
        """Return whether an answer with this body is sent as ASGI messages, since something about it is unusual."""
        return (
            self.flow.write_paused
            or self.access_log
            or not self.keep_alive
            or self.more_body
            or self.waiting_for_100_continue
            or self.disconnected
            or self.response_started
            or len(body) > _LARGE
        )

    def _write_whole(self, text: bytes) -> None:
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(text)
        self.message_event.set()
        self.on_response()

    async def send(self, message: Any) -> None:
        """Send an ASGI message."""
        # A client that was not told to send its body may do so or not: what came next could be either.
        if self.waiting_for_100_continue and self.more_body:
            self.keep_alive = False
        if message["type"] == "http.response.start" and self._may_wait(message):
            self._head = message
            return
        head, self._head = self._head, None
        if head is not None and self.flow.write_paused and not self.disconnected:
            # First, since it may take until the connection is given up, and the answer has to say so.
            self.flow.keep(len(message.get("body", b"")))
            await self.flow.drain()
        if head is None:
            await super().send(message)
        elif (text := self._write_down(head, message)) is None:
            await super().send(head)
            await super().send(message)
        elif not self.disconnected:
            self._write_whole(text)
        if self.flow.write_paused:
            self.flow.keep(len(message.get("body", b"")))

    def _may_wait(self, head: Any) -> bool:
        if not self.response_started and self.scope["method"] != "HEAD":
            for name, _ in head.get("headers", ()):
                if name == b"content-length":
                    return True
        return False

    def _write_down(self, head: Any, message: Any) -> bytes | None:
        """Return the bytes of the response, or None if uvicorn must write or refuse it."""
        if self.more_body:
            self.transport = cast("asyncio.Transport", LingeringTransport(self.transport))
        if self.access_log or not self.keep_alive or message.get("more_body", False):
            return None
        body = message.get("body", b"")
        if len(body) > _LARGE:
            return None
        sent = head["headers"]
        headers = (*self.default_headers, *sent) if self.default_headers else sent
        lines = _write_headers(headers, b"%d" % len(body))
        return None if lines is None else b"%b%b\r\n%b" % (STATUS_LINE[head["status"]], lines, body)


def _write_headers(headers: Iterable[tuple[bytes, bytes]], length: bytes | None) -> bytes | None:
    """Write the headers of an answer of this length, or None if uvicorn must write or refuse one of them."""
    said: list[bytes] = []
    lines: list[bytes] = []
    for name, value in headers:
        if name in _FRAMING or (name == b"content-length" and value != length):
            return None
        said += (name, value)
        lines += (name, b": ", value, b"\r\n")
    text = b"".join(said)
    # They would be a header that was smuggled into another.
    if text.find(b"\n") >= 0 or text.find(b"\r") >= 0 or text.find(b"\0") >= 0:
        return None
    return b"".join(lines)


@lru_cache(maxsize=2)
def _write_beginning(*headers: tuple[bytes, bytes]) -> bytes:
    """Write the part of plain answers that is the same for one second, up to their length."""
    lines = [name + b": " + value + b"\r\n" for name, value in headers]
    return b"".join([STATUS_LINE[_OK], *lines, b"content-length: "])


def _write_lines(headers: Mapping[str, str]) -> bytes | None:
    """Write the answer's own headers, or None if uvicorn must write or refuse one of them."""
    lines = [_write_line(name, value) for name, value in headers.items()]
    return None if None in lines else b"".join(filter(None, lines))


@lru_cache(_LINES)
def _write_line(name: str, value: str) -> bytes | None:
    """Write one of them, or None."""
    # Each is short, and most of them say the same each time.
    written = name.lower().encode("latin-1")
    line = b"\r\n%b: %b" % (written, value.encode("latin-1"))
    is_smuggled = line.count(b"\n") + line.count(b"\r") + line.count(b"\0") != 2
    return None if is_smuggled or written in _FRAMING or written == b"content-length" else line


def disconnect(cycle: RequestResponseCycle) -> None:
    """Tell the application that its client is gone, so that further input is discarded."""
    cycle.disconnected = True
    cycle.waiting_for_100_continue = False  # After the end of what is sent, no leave can be.
    cycle.body = bytearray()
    cycle.message_event.set()


# Bytes that are taken from a client that has its answer.
_MOST = 64 * 1024 * 1024


class Lingering(Protocol):
    """Discards what a client still sends, up to a bound; the connection sweep limits the time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._left = _MOST

    def data_received(self, data: bytes) -> None:
        """Discard the data."""
        self._left -= len(data)
        if self._left < 0:
            self._connection.transport.close()

    def pause_writing(self) -> None:
        """Forward the call."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """Forward the call."""
        self._connection.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forward the call."""
        self._connection.connection_lost(exc)


class LingeringTransport:
    """Transport for an answer that is sent before its request is complete."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self.write = transport.write
        self.is_closing = transport.is_closing

    def close(self) -> None:
        """Do not close the connection while its client is still served."""
        protocol: BaseProtocol = self._transport.get_protocol()
        leave = getattr(protocol, "leave", self._transport.close)
        leave()
