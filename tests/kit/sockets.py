"""Talk to a server byte by byte, as no HTTP client would."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.kit.servers import Server

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@contextmanager
def connection(server: Server) -> Iterator[socket.socket]:
    """Open a socket to the server."""
    with socket.create_connection((server.host, server.port), timeout=20) as sock:
        yield sock


def read_all(sock: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    return b"".join(iter(lambda: sock.recv(65536), b""))


def read_answer(sock: socket.socket) -> tuple[bytes, dict[str, Any]]:
    """Read an answer until the server closes the connection: its head, and the JSON below it."""
    head, _, body = read_all(sock).partition(b"\r\n\r\n")
    return head, json.loads(body)
