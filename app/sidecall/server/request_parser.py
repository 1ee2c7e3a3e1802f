"""Parse the requests of one client, each by its own headers, and refuse malformed ones."""

from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from sidecall.server.refusals import (
    BAD_REQUEST,
    BODY_CHOPPED,
    HEADERS_LARGE,
    HOSTS,
    MAX_HEADER_BYTES,
    NO_HOST,
    TRAILERS_LARGE,
    Refusal,
    check_target,
    check_transfer_coding,
    check_version,
    classify_error,
)

_NOTED = frozenset((b"host", b"expect", b"transfer-encoding", b"x-forwarded-for", b"x-forwarded-proto"))


class RequestParser(HttpToolsProtocol, ABC):
    """Parses requests, and bounds everything except their body."""

    # Added to uvicorn's attributes, which are just few enough for key-sharing dictionaries.
    __slots__ = (
        "_bare_bytes",
        "_chunk_bytes",
        "_chunks",
        "_header_bytes",
        "_hosts",
        "_is_coded",
        "_is_forwarded",
        "_refusal",
    )

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any], loop: AbstractEventLoop | None
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self._refusal = BAD_REQUEST
        self._header_bytes = 0
        self._hosts = 0
        self._is_coded = False
        self._is_forwarded = False
        # Of the chunked body that is being read: its chunks so far, its bytes, and those since the last of its content.
        self._chunks = 0
        self._chunk_bytes = 0
        self._bare_bytes = 0

    @abstractmethod
    def refuse(self, refusal: Refusal) -> None:
        """Answer without a valid request, and close."""

    def _read(self, data: bytes) -> None:
        """Parse a chunk; endless headers and trailers are cut off."""
        self._header_bytes += len(data)
        if self._is_coded:
            self._bare_bytes += len(data)
        before: Any = self.scope  # None before the first request
        try:
            self.parser.feed_data(data)
        except (HttpParserUpgrade, HttpParserError) as error:
            if not self._parse_on(data, error):
                return
        scope: Any = self.scope
        if scope is None or "method" in scope:
            self._header_bytes = 0
            if self._is_coded:
                self._weigh_chunks(len(data))
        else:
            self._weigh_head(data, has_begun=scope is not before)

    def _weigh_head(self, data: bytes, *, has_begun: bool) -> None:
        """Cut off a head that exceeds its limit; its first packet may also hold part of the previous request."""
        if has_begun:
            self._header_bytes = min(self._header_bytes, size_of_part(data, self.url, self.headers))
        if self._header_bytes > MAX_HEADER_BYTES:
            self._refusal = HEADERS_LARGE
            self.send_400_response("")

    def _parse_on(self, data: bytes | memoryview, error: Exception) -> bool:
        """Parse what follows a request to upgrade; refuse what is malformed, and return False."""
        while isinstance(error, HttpParserUpgrade):
            data = memoryview(data)[error.args[0] :]
            try:
                self._begin_again()
                self.parser.feed_data(data)
            except (HttpParserUpgrade, HttpParserError) as next_error:
                error = next_error
            else:
                return True
        self._refusal = classify_error(str(error), self._refusal)
        self.send_400_response("")
        return False

    def _begin_again(self) -> None:
        """Parse the headers of a request again, without the upgrade to another protocol.

        The parser treats what follows an upgrade request as the other protocol. We support none, so what follows is
        read by the other headers: the body, if any, and then the next request.
        """
        head = write_head(self.parser, self.url, self.headers)
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.parser.feed_data(head)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header; called by the parser, also for trailers."""
        name = name.lower()
        if name in _NOTED:
            if name == b"host":
                self._hosts += 1
            elif name == b"transfer-encoding":
                self._is_coded = True
            elif name != b"expect":
                self._is_forwarded = True
            elif value.lower() == b"100-continue":
                self.expect_100_continue = True
        self.headers.append((name, value))

    def on_chunk_header(self) -> None:
        """Count a chunk of a body; called by the parser."""
        if not self._chunks:
            self._chunk_bytes = self._bare_bytes = 0
            self.headers = []  # From here on there are only trailers, which must not be taken for headers.
        self._chunks += 1

    def on_chunk_complete(self) -> None:
        """Check the trailers, if this was the last chunk; called by the parser."""
        if self.headers and size_of(self.headers) > MAX_HEADER_BYTES:
            self._object(TRAILERS_LARGE)

    def _check_head(self, version: str) -> None:
        """Refuse malformed parts of an unusual head."""
        # Its bytes may have come together with those of a body.
        if self._header_bytes > MAX_HEADER_BYTES and len(self.url) + size_of(self.headers) > MAX_HEADER_BYTES:
            self._object(HEADERS_LARGE)
        self._pass(check_version(version))
        if self._hosts > 1:
            self._object(HOSTS)
        if self._hosts == 0 and version == "1.1":
            self._object(NO_HOST)
        if self._is_coded:
            self._pass(check_transfer_coding(self.headers, version))
            self._bare_bytes = 0
        if self.url[0] != SLASH or HASH in self.url:
            self._pass(check_target(self.parser.get_method(), self.url, self.headers))
        if version == "1.0":
            self.expect_100_continue = False  # which HTTP/1.0 does not know

    def _pass(self, refusal: Refusal | None) -> None:
        if refusal is not None:
            self._object(refusal)

    def _object(self, refusal: Refusal) -> NoReturn:
        self._refusal = refusal
        raise ValueError  # The parser passes it on as an error of its own.

    def _weigh_chunks(self, size: int) -> None:
        """Cut off a body in tiny chunks, each of which costs as much as a large one, and endless trailers."""
        self._chunk_bytes += size
        if are_tiny(self._chunks, self._chunk_bytes):
            self._refusal = BODY_CHOPPED
        elif self._bare_bytes > MAX_HEADER_BYTES:
            self._refusal = TRAILERS_LARGE
        else:
            return
        self.send_400_response("")


# What the target of a request begins with, and does not contain, unless it is an unusual one. Numbers, since to look
# for one in bytes takes a tenth of the time.
SLASH, HASH = b"/#"
# Chunks that a body may have at any size, and the bytes that more of them must have on average.
_FEW_CHUNKS = 16_384

_LEAST_CHUNK = 64

# Targets that need not be read again, and how long they may be.
_REMEMBERED = 256

_SHORT = 128

_Headers = Sequence[tuple[bytes, bytes]]


def complete_scope(scope: Any, method: bytes, version: str, url: bytes, root_path: str) -> None:
    """Add the first line of a request to its scope."""
    path, raw_path, query = _read_short(url) if len(url) <= _SHORT else _read_target(url)
    scope["method"] = method.decode("ascii")
    scope["http_version"] = version
    scope["path"] = root_path + path if root_path else path
    scope["raw_path"] = root_path.encode("ascii") + raw_path if root_path else raw_path
    scope["query_string"] = query


def _read_target(url: bytes) -> tuple[str, bytes, bytes]:
    """Split a target into its path, unchanged, and the query."""
    target = parse_url(url)
    raw_path = target.path or b"/"  # An address without a path means its root.
    path = raw_path.decode("ascii")
    return unquote(path) if "%" in path else path, raw_path, target.query or b""


# Clients ask for the same few again and again.
_read_short = lru_cache(_REMEMBERED)(_read_target)


def write_head(parser: HttpRequestParser, url: bytes, headers: _Headers) -> bytes:
    """Write the head of a request again, without the upgrade to another protocol."""
    lines = [b"%b %b HTTP/%b\r\n" % (parser.get_method(), url, parser.get_http_version().encode())]
    lines += [b"%b: %b\r\n" % header for header in headers if header[0] != b"upgrade"]
    return b"".join([*lines, b"\r\n"])


def size_of(headers: _Headers) -> int:
    """Return the size of headers on the wire."""
    return sum(len(name) + len(value) + len(b": \r\n") for name, value in headers)


def size_of_part(packet: bytes, url: bytes, headers: _Headers) -> int:
    """Count the bytes of a head that began in a packet, after the end of another request, and is incomplete.

    The position where it began is unknown, so what counts is what was parsed of it, and its last line so far. If that
    is the first line, the start of that line belongs to the previous body.
    """
    size = len(url) + size_of(headers)
    line = packet[packet.rfind(b"\n") + 1 :]
    return size if not headers and url in line else size + len(line)


def are_tiny(chunks: int, size: int) -> bool:
    """Return whether a body's chunks are so many and small that they cost more than a body may."""
    return chunks > _FEW_CHUNKS and size < chunks * _LEAST_CHUNK
