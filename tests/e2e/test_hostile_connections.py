"""Clients that want to wear the server out are cut off, and the others do not notice."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.conftest import Serve, Server

# More of them, and longer times, for the figures in docs/reliability.md.
IDLE = int(os.environ.get("IDLE_CONNECTIONS", "300"))
GET = b"GET /healthz HTTP/1.1\r\nHost: sidecall\r\n"
POST = b"POST /tool_calls HTTP/1.1\r\nHost: sidecall\r\nContent-Type: application/json\r\n"

TOOLS = '''
import os
import resource

from app import tool

held = []


@tool(executor="inline")
def hoard() -> str:
    """Open files until no more can be opened."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        while True:
            held.append(os.dup(2))
    except OSError:
        return "full"
'''


@pytest.fixture(scope="module")
def server(start_server: Serve) -> Server:
    """Serve without much patience."""
    return start_server(SIDECALL_HEADER_TIMEOUT="1", SIDECALL_BODY_TIMEOUT="1")


@contextmanager
def connection(server: Server) -> Iterator[socket.socket]:
    """Open a socket to the server."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as sock:
        yield sock


def read_all(sock: socket.socket) -> tuple[bytes, dict[str, Any]]:
    """Read an answer until the server closes the connection."""
    answer = b"".join(iter(lambda: sock.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, json.loads(body)


def drip(sock: socket.socket, sign: bytes) -> bytes:
    """Send a byte at a time, as long as the server takes it, and return its answer."""
    sock.settimeout(0.1)
    while True:
        try:
            sock.sendall(sign)
            return sock.recv(65536)
        except TimeoutError:
            continue


def send_in_vain(sock: socket.socket, request: bytes) -> bytes:
    """Return the answer; nothing when the connection was reset before it could be read."""
    try:
        sock.sendall(request)
        return sock.recv(65536)
    except ConnectionError:
        return b""


def test_headers_that_drip_are_cut_off(server: Server) -> None:
    """Each byte does not buy more time, and the answer says what was wrong."""
    with connection(server) as sock:
        sock.sendall(GET + b"X-Slow: ")
        answer = drip(sock, b"a")
        alive = httpx.get(f"{server.url}/healthz")

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in head
    assert b"content-type: application/problem+json" in head
    assert json.loads(body)["type"] == "urn:sidecall:problem:request-timeout"
    assert json.loads(body)["detail"] == "Its headers took too long."
    assert alive.status_code == 200


@pytest.mark.parametrize("declared", [b"Content-Length: 1000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nfff\r\n"])
@pytest.mark.parametrize("path", [b"/tool_calls", b"/tool_calls/batch"])
def test_a_body_that_drips_is_cut_off(server: Server, path: bytes, declared: bytes) -> None:
    """Whichever way it is read; the log is not filled with tracebacks by that."""
    with connection(server) as sock:
        sock.sendall(POST.replace(b"/tool_calls", path) + declared)
        answer = drip(sock, b" ")

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["detail"] == "Its body took too long."
    assert "requests that did not arrive in time were cut off: " in server.wait_for("cut off")
    assert "Traceback" not in server.log


def test_idle_connections_are_closed(server: Server) -> None:
    """They cost others nothing meanwhile."""
    with ExitStack() as stack:
        idle = [stack.enter_context(connection(server)) for _ in range(IDLE)]
        alive = httpx.get(f"{server.url}/healthz")
        rest = {sock.recv(65536) for sock in idle}

    assert alive.status_code == 200
    assert rest == {b""}


@pytest.mark.parametrize("start", [b"", GET + b"\r\n"], ids=["at first", "after a request"])
def test_what_is_no_request_does_not_keep_a_connection_open(server: Server, start: bytes) -> None:
    """Empty lines before a request are legal, but not for ever."""
    with connection(server) as sock:
        sock.sendall(start)
        first = sock.recv(65536) if start else b""
        rest = drip(sock, b"\r\n")

    assert first[:13] == (b"HTTP/1.1 200 " if start else b"")
    assert rest in (b"", b'{"status":"ok"}')


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(b"X: " + b"a" * 1_000_000 + b"\r\n\r\n", id="one of 1 MB"),
        pytest.param(b"X: " + b"a" * 1_000_000, id="one of 1 MB, and still not at its end"),
        pytest.param(b"a: b\r\n" * 10_000 + b"\r\n", id="10,000 small ones"),
        pytest.param(b"X: " + b"a" * 32_768 + b"\r\n\r\n", id="one just too large"),
    ],
)
def test_large_headers_are_refused(server: Server, headers: bytes) -> None:
    """They are not even read to their end."""
    with connection(server) as sock:
        answer = send_in_vain(sock, GET + headers)
    alive = httpx.get(f"{server.url}/healthz")

    assert answer[:13] in (b"HTTP/1.1 431 ", b"")
    assert alive.status_code == 200


def test_a_refused_header_is_explained(server: Server) -> None:
    """As a problem, like every other error."""
    with connection(server) as sock:
        sock.sendall(GET + b"X: " + b"a" * 40_000 + b"\r\n\r\n")
        head, problem = read_all(sock)

    assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert problem["type"] == "urn:sidecall:problem:headers-too-large"
    assert problem["detail"] == "They may have 32768 bytes."


def test_a_large_body_makes_no_header_large(server: Server) -> None:
    """Though both may arrive in one piece."""
    body = b'{"name": "nope", "args": {"text": "' + b"a" * 60_000 + b'"}}'
    with connection(server) as sock:
        sock.sendall(POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head, _ = read_all(sock)

    assert head.startswith(b"HTTP/1.1 200 ")


def test_large_headers_within_the_limit_are_taken(server: Server) -> None:
    """Tokens may be long."""
    with connection(server) as sock:
        sock.sendall(GET + b"Connection: close\r\nAuthorization: Bearer " + b"a" * 30_000 + b"\r\n\r\n")
        head, body = read_all(sock)

    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == {"status": "ok"}


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nAccept: */*\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nAccept: */*\r\nHost: sidecall\r\nConnection: close\r\n\r\n", b"200"),
        (b"GET /healthz HTTP/1.0\r\n\r\n", b"200"),  # which knew no such header
    ],
)
def test_a_host_is_asked_for(server: Server, request_bytes: bytes, status: bytes) -> None:
    """As RFC 9112 wants it."""
    with connection(server) as sock:
        sock.sendall(request_bytes)
        head, _ = read_all(sock)

    assert head.startswith(b"HTTP/1.1 " + status)


def test_too_many_connections_are_refused(start_server: Serve) -> None:
    """With an answer and a line in the log; those that are open go on."""
    server = start_server(SIDECALL_MAX_CONNECTIONS="5")

    with ExitStack() as stack:
        kept = [stack.enter_context(connection(server)) for _ in range(5)]
        kept[0].sendall(GET + b"\r\n")
        served = kept[0].recv(65536)
        head, problem = read_all(stack.enter_context(connection(server)))
        log = server.wait_for("refused with 503: 1")

    assert served.startswith(b"HTTP/1.1 200 ")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in head
    assert problem["type"] == "urn:sidecall:problem:too-many-connections"
    assert "the limit of 5 connections (SIDECALL_MAX_CONNECTIONS) is reached" in log


def test_when_no_file_can_be_opened_the_log_says_so(start_server: Serve, tmp_path: Path) -> None:
    """Once in a while, not for each connection that is lost."""
    (tmp_path / "mine.py").write_text(TOOLS)
    server = start_server("--tools", "mine.py", cwd=tmp_path)

    with httpx.Client(base_url=server.url) as kept:
        message = kept.post("/tool_calls", json={"name": "hoard", "args": {}}).json()
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{server.url}/healthz")
        server.wait_for("no more files can be opened")
        alive = kept.get("/healthz")

    assert message["content"] == "full"
    assert alive.status_code == 200
    assert server.stop() == 0
    assert server.log.count("no more files can be opened") == 1
