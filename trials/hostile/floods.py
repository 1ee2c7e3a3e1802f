"""Send bodies and headers that no server should take, and see when it stops reading."""

import asyncio
import gzip
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.latency_probe import LatencyProbe
from bench.rounds import milliseconds
from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving

_LIMIT = 4 * 1024 * 1024
_SIDE_BY_SIDE = 50
_PIECE = 64 * 1024
# What the event loop reads at once.
_MORE = 256 * 1024
_HUNDRED_MB = 100 * 1024 * 1024
_PATIENCE = 33.0
_HEAD = b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
_STATUS = re.compile(rb"^HTTP/1\.1 (\d{3}) ")


@dataclass(frozen=True, slots=True)
class Flood:
    """A flood: its headers, its body, and the expected answers."""

    what: str
    head: bytes
    pieces: Callable[[], Iterator[bytes]]
    right: frozenset[int] = frozenset((413,))
    most_mb: int = 20


def _zeros() -> Iterator[bytes]:
    return (b" " * _PIECE for _ in range(_HUNDRED_MB // _PIECE))


def _chunks(size: int) -> Iterator[bytes]:
    chunk = b"%x\r\n%s\r\n" % (size, b" " * size)
    many = chunk * max(1, _PIECE // len(chunk))
    while True:
        yield many


# Without a declared length a body is kept up to its limit; all bodies together up to the limit in flight.
_KEPT_MB = 25
# Bytes that are read and discarded from a client that still sends when it is answered, so that the answer is not lost.
_DRAINED = 64 * 1024 * 1024
_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_FLOODS = (
    Flood("100 MB, said beforehand", _HEAD + b"Content-Length: %d\r\n\r\n" % _HUNDRED_MB, _zeros),
    Flood(
        "100 MB, said beforehand, by whom waits for leave",
        _HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % _HUNDRED_MB,
        _zeros,
    ),
    # Together they are more than all bodies in flight may be, so some are told that there is no room.
    Flood("endless chunks of 64 KB", _CHUNKED, lambda: _chunks(_PIECE), frozenset((413, 503)), 20 + _KEPT_MB),
    Flood("endless chunks of 1 byte", _CHUNKED, lambda: _chunks(1), frozenset((400,)), 20 + _KEPT_MB),
)


def _zipped() -> Flood:
    body = gzip.compress(b" " * _HUNDRED_MB)
    head = _HEAD + b"Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    return Flood(f"100 MB of zeros in {len(body) // 1000} KB of gzip", head, lambda: iter((body,)), frozenset((415,)))


def run_shortly() -> Iterator[Finding]:
    """Try S5."""
    with serving() as server:
        yield from (_sent(server, *headers) for headers in HEADERS)


def run() -> Iterator[Finding]:
    """Try S3, 50 side by side, and S5."""
    for flood in (*_FLOODS, _zipped()):
        with serving() as server:
            yield _flooded(server, flood)
    yield from run_shortly()


def _flooded(server: Server, flood: Flood) -> Finding:
    uvloop.run(_drown(server.port, flood))  # What the first one makes it allocate is no growth.
    before, read_before = server.resident_mb(peak=True), _bytes_read(server.pid)
    with LatencyProbe(server.port) as probe:
        statuses, closed = uvloop.run(_side_by_side(server.port, flood))
    read = (_bytes_read(server.pid) - read_before) / _SIDE_BY_SIDE
    grown = server.resident_mb(peak=True) - before
    found = ", ".join(f"{count} with {status or 'reset'}" for status, count in sorted(statuses.items()))
    return Finding(
        "S3",
        f"{flood.what}, {_SIDE_BY_SIDE} side by side",
        f"{' or '.join(map(str, sorted(flood.right)))}; closed; ≤ 256 KB (one read) beyond the limit of 4 MB, and "
        "64 MB that go nowhere; "
        f"peak ≤ {flood.most_mb} MB more",
        f"{found}; {closed} closed; {read / 1024:,.0f} KB read of each; peak {grown:+.0f} MB; others waited for up to "
        f"{milliseconds(probe.worst)}",
        # A client that is still sending when the connection closes loses the answer.
        bool(flood.right & statuses.keys())
        and not statuses.keys() - flood.right - {0}
        and closed == _SIDE_BY_SIDE
        and read <= _LIMIT + _MORE + _DRAINED,
        grown <= flood.most_mb,
    )


def _bytes_read(pid: int) -> int:
    found = re.search(r"^rchar: (\d+)", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


async def _side_by_side(port: int, flood: Flood) -> tuple[Counter[int], int]:
    ends = await asyncio.gather(*(_drown(port, flood) for _ in range(_SIDE_BY_SIDE)))
    return Counter(status for status, _ in ends), sum(is_closed for _, is_closed in ends)


async def _drown(port: int, flood: Flood) -> tuple[int, bool]:
    """Send until the server has had enough; returns its status, 0 for none, and whether it closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    sending = asyncio.create_task(_pour(writer, flood))
    received, is_closed = b"", False
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            received, is_closed = await _read_all(reader), True
    sending.cancel()
    writer.close()
    found = _STATUS.search(received)
    return (int(found[1]) if found else 0), is_closed


async def _pour(writer: asyncio.StreamWriter, flood: Flood) -> None:
    with suppress(ConnectionError, RuntimeError):
        writer.write(flood.head)
        async for piece in _one_by_one(flood):
            writer.write(piece)
            await writer.drain()


async def _one_by_one(flood: Flood) -> AsyncIterator[bytes]:
    for piece in flood.pieces():
        yield piece
        await asyncio.sleep(0)


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    received = b""
    with suppress(ConnectionError):
        while read := await reader.read(65536):
            received += read
    return received


Headers = tuple[str, bytes, frozenset[int]]
_BAD = frozenset((400, 431))
HEADERS: tuple[Headers, ...] = (
    ("one header of 100 KB", _GET + b"X: " + b"a" * 100_000 + b"\r\n\r\n", _BAD),
    ("10,000 headers", _GET + b"a: b\r\n" * 10_000 + b"\r\n", _BAD),
    ("an address of 100 KB", b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", _BAD),
    ("no `Host`", b"GET /healthz HTTP/1.1\r\n\r\n", _BAD),
    ("a length and chunks", _HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", _BAD),
    ("two lengths", _HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", _BAD),
    ("two equal lengths", _HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", _BAD),
    ("a length of `+5`", _HEAD + b"Content-Length: +5\r\n\r\n{}   ", _BAD),
    ("a length of `5, 5`", _HEAD + b"Content-Length: 5, 5\r\n\r\n{}   ", _BAD),
    ("a chunk of `zz` bytes", _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", _BAD),
    ("a chunk of 2⁶⁴ bytes", _HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", _BAD),
    ("a chunk longer than it says", _HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n", _BAD),
    ("chunks of chunks", _HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", _BAD),
    ("chunks that are not the last coding", _HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", _BAD),
    ("a folded header", _GET + b"X: a\r\n b\r\n\r\n", _BAD | {200}),
    ("a space before a colon", _GET + b"Content-Length : 0\r\n\r\n", _BAD),
    ("NUL in a header", _GET + b"X: a\x00b\r\n\r\n", _BAD),
    ("a bare CR in a header", _GET + b"X: a\rTransfer-Encoding: chunked\r\n\r\n", _BAD),
    ("lines that end in LF only", b"GET /healthz HTTP/1.1\nHost: localhost\n\n", _BAD | {200}),
)


def _sent(server: Server, what: str, request: bytes, right: frozenset[int]) -> Finding:
    status, is_closed = uvloop.run(_drown(server.port, Flood(what, request, lambda: iter(()))))
    is_taken = status == 200
    return Finding(
        "S5",
        what,
        " or ".join(map(str, sorted(right))) + "; connection closed",
        f"{status or 'reset'}, {'closed' if is_closed else 'open'}",
        (status in right or status == 0) and (is_closed or is_taken),
    )
