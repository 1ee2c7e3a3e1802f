"""Packets of many connections at once, full of lines, each of which takes as long to read as a thousand bytes."""

import socket
from contextlib import ExitStack

import httpx

from trials.hostile.holding.case import Ask, Case, Client

_CONNECTIONS = 50
_PATIENCE = 60.0
_CUT_OFF = 599
_HEAD = b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_CALL = b'{"name": "echo", "args": {"value": 1}, "id": "call_1"}'
_GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def _chop(body: bytes) -> bytes:
    return b"".join(b"1\r\n%c\r\n" % byte for byte in body)


def _send_from_many(packet: bytes) -> Ask:
    """Send bytes unchanged over each of many connections at once, and return the answer with the highest status."""

    def ask(client: Client) -> httpx.Response:
        address = client.base_url.host, client.base_url.port
        with ExitStack() as stack:
            opened = [stack.enter_context(socket.create_connection(address, _PATIENCE)) for _ in range(_CONNECTIONS)]
            for connection in opened:
                connection.sendall(packet)
            return httpx.Response(max(map(_read_status, opened)))

    return ask


def _read_status(connection: socket.socket) -> int:
    received = b""
    while b"\r\n" not in received:
        read = connection.recv(65536)
        if not read:
            return _CUT_OFF
        received += read
    return int(received.split(b" ")[1])


CASES = [
    Case(
        "bodies in tiny chunks",
        f"16,000 chunks from each of {_CONNECTIONS} connections",
        _send_from_many(_CHUNKED + _chop(_CALL + b" " * (16_000 - len(_CALL))) + b"0\r\n\r\n"),
    ),
    Case(
        "bodies in more tiny chunks, which are refused",
        f"40,000 chunks from each of {_CONNECTIONS} connections",
        _send_from_many(_CHUNKED + _chop(b" " * 40_000) + b"0\r\n\r\n"),
    ),
    Case(
        "heads of short lines",
        f"32 KB from each of {_CONNECTIONS} connections",
        _send_from_many(_GET + b"a:b\r\n" * 6_300 + b"\r\n"),
    ),
    Case(
        "longer heads, which are refused",
        f"250 KB from each of {_CONNECTIONS} connections",
        _send_from_many(_GET + b"a:b\r\n" * 50_000 + b"\r\n"),
    ),
    Case(
        "trailers of short lines",
        f"32 KB from each of {_CONNECTIONS} connections",
        _send_from_many(_CHUNKED + b"%x\r\n%b\r\n0\r\n" % (len(_CALL), _CALL) + b"a:b\r\n" * 6_300 + b"\r\n"),
    ),
    Case(
        "requests sent ahead",
        f"4,000 from each of {_CONNECTIONS} connections",
        _send_from_many((_GET + b"\r\n") * 4_000),
    ),
]
