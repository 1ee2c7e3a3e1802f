"""Read answers with limits on size and time."""

import asyncio
import time
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpcore
import httpx

from sidecall.outgoing.connecting import ending_at
from sidecall.outgoing.patterns import OutgoingRefused, refuse

_GZIP = ("gzip", "x-gzip")
_PIECE = 64 * 1024
_HTTP_ERRORS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


@dataclass(frozen=True, slots=True)
class AnswerBounds:
    """The limits of one answer: bytes, compressed and decompressed, and seconds from request to last byte."""

    max_bytes: int
    max_seconds: float


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate errors of the HTTP core to those of HTTPX, which share their names."""
    try:
        yield
    except _HTTP_ERRORS as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


class _Unpacking:
    """Decompresses an answer in pieces, and counts."""

    def __init__(self, headers: httpx.Headers, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._packed = self._unpacked = 0
        self._length = headers.get("Content-Length", "")
        self._coding = headers.get("Content-Encoding", "").strip().lower()
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if self._coding in _GZIP else None

    def begin(self) -> None:
        """Check the answer's headers.

        Raises:
            OutgoingRefused: It is too large, or packed in another way.
        """
        if self._inflate is None and self._coding not in ("", "identity"):
            raise OutgoingRefused(
                f"Refused: the answer is packed as {self._coding[:40]!r}, which was not asked for. "
                "Try another address.",
                about="coding",
            )
        if self._length.isdecimal() and len(self._length) < 20 and int(self._length) > self._max_bytes:
            raise self._refuse_size()

    def unpack(self, piece: bytes) -> Iterator[bytes]:
        """Decompress a piece in small parts, so that a small one cannot become huge."""
        self._packed += len(piece)
        if self._packed > self._max_bytes:
            raise self._refuse_size()
        if self._inflate is None:
            yield piece
            return
        rest = piece
        while True:
            try:
                found = self._inflate.decompress(rest, _PIECE)
            except zlib.error as error:
                raise httpx.DecodingError(str(error)) from error
            self._unpacked += len(found)
            if self._unpacked > self._max_bytes:
                raise self._refuse_size()
            if found:
                yield found
            rest = self._inflate.unconsumed_tail
            if not rest and len(found) < _PIECE:
                return

    def _refuse_size(self) -> OutgoingRefused:
        return refuse(
            f"Refused: the answer is larger than {self._max_bytes} bytes. "
            "Ask for a part of it, or for another address.",
            "SIDECALL_OUTGOING_MAX_BYTES says how many there may be, or the tool with max_bytes=.",
            about="size",
        )


class BoundedStream(httpx.SyncByteStream):
    """The body of an answer."""

    def __init__(self, stream: Iterable[bytes], headers: httpx.Headers, max_bytes: int, ends_at: float) -> None:
        """Wrap a body.

        Args:
            stream: Where it comes from.
            headers: Of its answer.
            max_bytes: That it may have.
            ends_at: When it has to be there, by the monotonic clock.
        """
        self._stream = stream
        self._unpacking = _Unpacking(headers, max_bytes)
        self._ends_at = ends_at

    def __iter__(self) -> Iterator[bytes]:
        """Yield it decompressed."""
        self._unpacking.begin()
        pieces = iter(self._stream)
        while True:
            with translate_errors(), ending_at(self._ends_at):
                piece = next(pieces, None)
            if piece is None:
                return
            yield from self._unpacking.unpack(piece)
            _require_time(self._ends_at)

    def close(self) -> None:
        """Return the connection to the pool, or close it."""
        if hasattr(self._stream, "close"):
            self._stream.close()


class AsyncBoundedStream(httpx.AsyncByteStream):
    """The body of an answer, on an event loop."""

    def __init__(self, stream: AsyncIterable[bytes], headers: httpx.Headers, max_bytes: int, ends_at: float) -> None:
        """Wrap a body, as `BoundedStream` does."""
        self._stream = stream
        self._unpacking = _Unpacking(headers, max_bytes)
        self._ends_at = ends_at

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield it decompressed."""
        self._unpacking.begin()
        pieces = aiter(self._stream)
        while True:
            with translate_errors(), ending_at(self._ends_at):
                piece = await anext(pieces, None)
            if piece is None:
                return
            for found in self._unpacking.unpack(piece):
                yield found
                await asyncio.sleep(0)  # A small piece may hold very many.
            _require_time(self._ends_at)

    async def aclose(self) -> None:
        """Return the connection to the pool, or close it."""
        if hasattr(self._stream, "aclose"):
            await self._stream.aclose()


def _require_time(ends_at: float) -> None:
    # What a server sends little by little never waits long enough to be cut off by a step's own limit.
    if time.monotonic() > ends_at:
        raise httpx.ReadTimeout("the whole request took too long")


def drop_packing(headers: httpx.Headers) -> httpx.Headers:
    """Remove the headers that describe the compression of a decompressed body."""
    if headers.get("Content-Encoding", "").strip().lower() in _GZIP:
        return httpx.Headers(
            [(k, v) for k, v in headers.raw if k.lower() not in (b"content-encoding", b"content-length")]
        )
    return headers
