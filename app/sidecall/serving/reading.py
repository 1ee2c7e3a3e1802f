"""Read the requests of one client off the wire, each within bounds and framed by its own headers."""

from asyncio import AbstractEventLoop, BaseTransport, Transport
from typing import Any, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from sidecall.lifecycle import Lifecycle
from sidecall.serving.flow import Flow
from sidecall.serving.refusals import (
    BAD_REQUEST,
    BODY_CHOPPED,
    HEADERS_LARGE,
    HOSTS,
    MAX_HEADER_BYTES,
    NO_HOST,
    NO_PROXY,
    TRAILERS_LARGE,
    Refusal,
)

# Chunks that a body may have whatever their size, and the bytes that more of them must have on average.
_FEW_CHUNKS = 16_384
_LEAST_CHUNK = 64

# Bytes that are read at once where they may hold many requests, which cost far more memory once they are read.
_PIECE = 1024
# Bytes of requests that wait behind a slow one, beyond those of one packet.
_MOST_AHEAD = 256 * 1024

_NOTED = frozenset((b"host", b"expect"))


class RequestReader(HttpToolsProtocol):
    """Read requests, and begin to answer each when those before it are answered."""

    # Beside uvicorn's attributes, of which there are just so many that instances can share the names.
    __slots__ = (
        "_bare_bytes",
        "_chunk_bytes",
        "_chunks",
        "_header_bytes",
        "_hosts",
        "_is_deaf",
        "_lifecycle",
        "_refusal",
        "_running",
    )

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: AbstractEventLoop | None,
        lifecycle: Lifecycle,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.flow: Flow
        self._lifecycle = lifecycle
        self._is_deaf = False
        # What has come but is not read yet, since requests before it wait to be answered.
        self._ahead = bytearray()
        self._refusal = BAD_REQUEST
        self._header_bytes = 0
        self._hosts = 0
        # Of the chunked body that is being read: its chunks so far, its bytes, and those since the last of its content.
        self._chunks = 0
        self._chunk_bytes = 0
        self._bare_bytes = 0
        # What is being answered; uvicorn's `cycle` is the last that came, when a client sends requests ahead.
        self._running: RequestResponseCycle | None = None

    def refuse(self, refusal: Refusal) -> None:
        """Answer without a request that could be answered, and close."""
        raise NotImplementedError

    def connection_made(self, transport: BaseTransport) -> None:
        """Take the connection."""
        super().connection_made(cast("Transport", transport))
        self.flow = Flow(cast("Transport", transport))

    def data_received(self, data: bytes) -> None:
        """Read on, unless there are requests enough to go on with."""
        if self.flow.is_held or (len(data) > _PIECE and data.count(b"\r\n\r\n") > 1):
            self._keep(data)
        else:
            self._read(data)

    def _keep(self, data: bytes) -> None:
        """Read what is not held; where too much is, the connection ends with the answer that is due."""
        if self._is_deaf:
            return
        self._ahead += data
        self._read_ahead()
        if len(self._ahead) > _MOST_AHEAD:
            self._end_with_answer()

    def _read_ahead(self) -> None:
        """Read what has come, up to a piece with the beginning of a request that has to wait for others."""
        while self._ahead and not self.flow.is_held:
            piece = bytes(self._ahead[:_PIECE])
            del self._ahead[:_PIECE]
            self._read(piece)

    def _end_with_answer(self) -> None:
        """Close the connection with the answer that is due; what comes until then goes nowhere."""
        assert self._running is not None
        self._running.keep_alive = False
        self._is_deaf = self.flow.is_held = True
        self.pipeline.clear()
        self._ahead.clear()

    def _read(self, data: bytes | memoryview) -> None:
        """Read a part of a request, or of several; headers and trailers without end are cut off in the middle."""
        self._header_bytes += len(data)
        if self._chunks:
            self._bare_bytes += len(data)
        if not self._parse(data):
            return
        if self._chunks:
            self._weigh_chunks(len(data))
        if not self._is_in_headers():
            self._header_bytes = 0
        elif self._header_bytes > MAX_HEADER_BYTES:
            self._refusal = HEADERS_LARGE
            self.send_400_response("")

    def _parse(self, data: bytes | memoryview) -> bool:
        try:
            while True:
                try:
                    self.parser.feed_data(data)
                except HttpParserUpgrade as upgrade:
                    data = memoryview(data)[upgrade.args[0] :]
                    self._begin_again()
                else:
                    return True
        except HttpParserError:
            message = "Invalid HTTP request received."
            self.logger.warning(message)
            self.send_400_response(message)
            return False

    def _begin_again(self) -> None:
        """Read the headers of a request once more, without the wish to speak another protocol after them.

        The parser believes that whatever follows them is of that protocol. Nobody here speaks any, so what follows is
        what the other headers say: the body of this request, if it has one, and then the next.
        """
        head = [b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())]
        head += [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.parser.feed_data(b"".join([*head, b"\r\n"]))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; called by the parser, for trailers as well."""
        name = name.lower()
        if name in _NOTED:
            if name == b"host":
                self._hosts += 1
            elif value.lower() == b"100-continue":
                self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Begin to answer, once the headers are in order."""
        if self.parser.should_upgrade():
            self._check_method()
            return
        if self._header_bytes > MAX_HEADER_BYTES:
            self._check_size()
        if self._hosts != 1:
            self._check_host()
        super().on_headers_complete()
        if self.pipeline:
            self.flow.is_held = True
        else:
            self._running = self.cycle
        if self._lifecycle.is_draining:
            self.cycle.keep_alive = False

    def on_chunk_header(self) -> None:
        """Count a chunk of a body; called by the parser."""
        if not self._chunks:
            self._chunk_bytes = self._bare_bytes = 0
            self.headers = []  # From here on there are only trailers, which nobody shall take for headers.
        self._chunks += 1

    def on_chunk_complete(self) -> None:
        """Look at the trailers, if this was the last chunk; called by the parser."""
        if self.headers and _size(self.headers) > MAX_HEADER_BYTES:
            self._refusal = TRAILERS_LARGE
            raise ValueError

    def on_body(self, body: bytes) -> None:
        """Keep a part of a body; called by the parser."""
        self._bare_bytes = 0
        cycle = self.cycle
        if cycle.response_complete:
            return
        cycle.body += body
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()

    def on_message_complete(self) -> None:
        """Let the application know that it has the whole body; called by the parser."""
        self._hosts = self._chunks = 0
        if self.parser.should_upgrade():
            return
        cycle = self.cycle
        cycle.more_body = False
        cycle.message_event.set()

    def on_response_complete(self) -> None:
        """Go on with the next request; called by uvicorn, which would set a timer for when there is none.

        Connections that send nothing are closed by those who look after them.
        """
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._running, app = self.pipeline.pop()
            self._start_asgi_task(self._running, app)
            if not self.pipeline:
                self.flow.is_held = False
                self._read_ahead()
            else:
                self.flow.pause_reading()
        self.flow.resume_reading()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer what could not be read; called by uvicorn.

        Where an earlier request is still to be answered, that is done, and the connection closed with it.
        """
        if self._running is None or self._running.response_complete or self._running.more_body:
            self.refuse(self._refusal)
            return
        self._end_with_answer()

    def _is_in_headers(self) -> bool:
        return self.scope is not None and "method" not in self.scope

    def _check_size(self) -> None:
        """Refuse large headers, whose bytes may have come together with those of a body."""
        if len(self.url) + _size(self.headers) > MAX_HEADER_BYTES:
            self._refusal = HEADERS_LARGE
            raise ValueError  # The parser passes it on as an error of its own.

    def _check_host(self) -> None:
        if self._hosts or self.parser.get_http_version() == "1.1":
            self._refusal = HOSTS if self._hosts else NO_HOST
            raise ValueError

    def _check_method(self) -> None:
        """Refuse CONNECT, after which the connection would not be ours."""
        if self.parser.get_method() == b"CONNECT":
            self._refusal = NO_PROXY
            raise ValueError

    def _weigh_chunks(self, size: int) -> None:
        """Cut off a body in tiny chunks, each of which costs as much as a large one, and trailers without end."""
        self._chunk_bytes += size
        if self._chunks > _FEW_CHUNKS and self._chunk_bytes < self._chunks * _LEAST_CHUNK:
            self._refusal = BODY_CHOPPED
        elif self._bare_bytes > MAX_HEADER_BYTES:
            self._refusal = TRAILERS_LARGE
        else:
            return
        self.send_400_response("")


def disconnect(cycle: RequestResponseCycle) -> None:
    """Let the application find its client gone, so that what it still sends goes nowhere."""
    cycle.disconnected = True
    cycle.message_event.set()


def _size(headers: list[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + len(b": \r\n") for name, value in headers)
