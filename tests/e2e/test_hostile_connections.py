"""Clients that want to wear the server out are cut off, and the others do not notice."""

import json
import os
import re
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.servers import CLIENT, Server
from tests.kit.sockets import GET, POST, connection, read_answer

# More of them, and longer times, for the figures in docs/limits.md.
IDLE = int(os.environ.get("IDLE_CONNECTIONS", "300"))
BATCH = POST.replace(b"/tool_calls", b"/tool_calls/batch")

TOOLS = '''
import os
import resource

from sidecall import tool

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


# What clients send at first, whether that is a request to be answered, and what they send again and again from then on.
DRIPS = {
    "headers": (GET + b"X-Slow: ", False, b"a"),
    "a sized body": (POST + b"Content-Length: 1000\r\n\r\n", False, b" "),
    "a chunked body": (POST + b"Transfer-Encoding: chunked\r\n\r\nfff\r\n", False, b" "),
    "a sized batch": (BATCH + b"Content-Length: 1000\r\n\r\n", False, b" "),
    "a chunked batch": (BATCH + b"Transfer-Encoding: chunked\r\n\r\nfff\r\n", False, b" "),
    "empty lines": (b"", False, b"\r\n"),
    "empty lines after a request": (GET + b"\r\n", True, b"\r\n"),
}


@dataclass
class CutOff:
    """What slow clients got until the server had enough of them, and what others got meanwhile."""

    idle: set[bytes]
    dripped: dict[str, tuple[bytes, bytes]]
    meanwhile: httpx.Response


@pytest.fixture(scope="module")
def cut_off(impatient: Server) -> CutOff:
    """Wear the server out in every way, all at once since each takes seconds."""
    with ExitStack() as stack:
        idle = [stack.enter_context(connection(impatient)) for _ in range(IDLE)]
        threads = stack.enter_context(ThreadPoolExecutor(len(DRIPS)))
        dripped = {name: threads.submit(drip, impatient, *how) for name, how in DRIPS.items()}
        meanwhile = CLIENT.get(f"{impatient.url}/healthz")
        rest = {sock.recv(65536) for sock in idle}
        return CutOff(rest, {name: answers.result() for name, answers in dripped.items()}, meanwhile)


def drip(server: Server, start: bytes, is_answered: bool, sign: bytes) -> tuple[bytes, bytes]:
    """Send a byte at a time as long as the server takes it, and return its first and its last answer."""
    with connection(server) as sock:
        sock.sendall(start)
        first = sock.recv(65536) if is_answered else b""
        sock.settimeout(0.1)
        while True:
            try:
                sock.sendall(sign)
                return first, sock.recv(65536)
            except TimeoutError:
                continue
            except ConnectionError:  # It was closed while another byte was on its way.
                return first, b""


def send_in_vain(sock: socket.socket, request: bytes) -> bytes:
    """Return the answer; nothing when the connection was reset before it could be read."""
    try:
        sock.sendall(request)
        return sock.recv(65536)
    except ConnectionError:
        return b""


def test_headers_that_drip_are_cut_off(cut_off: CutOff) -> None:
    """Each byte does not buy more time, and the answer says what was wrong."""
    head, _, body = cut_off.dripped["headers"][1].partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in head
    assert b"content-type: application/problem+json" in head
    assert json.loads(body)["type"] == "urn:sidecall:problem:request-timeout"
    assert json.loads(body)["detail"] == "Its headers took too long."


@pytest.mark.parametrize("name", ["a sized body", "a chunked body", "a sized batch", "a chunked batch"])
def test_a_body_that_drips_is_cut_off(impatient: Server, cut_off: CutOff, name: str) -> None:
    """No matter which way it is read; the log is not filled with tracebacks by that."""
    head, _, body = cut_off.dripped[name][1].partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["detail"] == "Its body took too long."
    assert "requests that did not arrive in time were cut off: " in impatient.wait_for("cut off")
    assert "Traceback" not in impatient.log


def test_idle_connections_are_closed(cut_off: CutOff) -> None:
    """They, and those that drip, cost others nothing meanwhile."""
    assert cut_off.meanwhile.status_code == 200
    assert cut_off.idle == {b""}


@pytest.mark.parametrize(
    ("name", "status"),
    [("empty lines", b""), ("empty lines after a request", b"HTTP/1.1 200 ")],
)
def test_what_is_no_request_does_not_keep_a_connection_open(cut_off: CutOff, name: str, status: bytes) -> None:
    """Empty lines before a request are legal, but not for ever."""
    first, rest = cut_off.dripped[name]

    assert first[:13] == status
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
def test_large_headers_are_refused(impatient: Server, headers: bytes) -> None:
    """They are not even read to their end."""
    with connection(impatient) as sock:
        answer = send_in_vain(sock, GET + headers)
    alive = CLIENT.get(f"{impatient.url}/healthz")

    assert answer[:13] in (b"HTTP/1.1 431 ", b"")
    assert alive.status_code == 200


def test_a_refused_header_is_explained(impatient: Server) -> None:
    """As a problem, like every other error."""
    with connection(impatient) as sock:
        sock.sendall(GET + b"X: " + b"a" * 40_000 + b"\r\n\r\n")
        head, problem = read_answer(sock)

    assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert problem["type"] == "urn:sidecall:problem:headers-too-large"
    assert problem["detail"] == "They may have 32768 bytes."


def test_a_large_body_makes_no_header_large(impatient: Server) -> None:
    """Though both may arrive in one piece."""
    body = b'{"name": "nope", "args": {"text": "' + b"a" * 60_000 + b'"}}'
    with connection(impatient) as sock:
        sock.sendall(POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head, _ = read_answer(sock)

    assert head.startswith(b"HTTP/1.1 200 ")


def test_large_headers_within_the_limit_are_taken(impatient: Server) -> None:
    """Tokens may be long."""
    with connection(impatient) as sock:
        sock.sendall(GET + b"Connection: close\r\nAuthorization: Bearer " + b"a" * 30_000 + b"\r\n\r\n")
        head, body = read_answer(sock)

    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == {"status": "ok"}


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nAccept: */*\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nAccept: */*\r\nHost: localhost\r\nConnection: close\r\n\r\n", b"200"),
        (b"GET /healthz HTTP/1.0\r\n\r\n", b"200"),  # which knew no such header
    ],
)
def test_a_host_is_asked_for(impatient: Server, request_bytes: bytes, status: bytes) -> None:
    """As RFC 9112 wants it."""
    with connection(impatient) as sock:
        sock.sendall(request_bytes)
        head, _ = read_answer(sock)

    assert head.startswith(b"HTTP/1.1 " + status)


def test_too_many_connections_are_refused(start_server: Serve) -> None:
    """With an answer and a line in the log; those that are open go on."""
    server = start_server(SIDECALL_MAX_CONNECTIONS="5")

    with ExitStack() as stack:
        kept = [stack.enter_context(connection(server)) for _ in range(5)]
        kept[0].sendall(GET + b"\r\n")
        served = kept[0].recv(65536)
        head, problem = read_answer(stack.enter_context(connection(server)))
        log = server.wait_for("refused with 503: 1")

    assert served.startswith(b"HTTP/1.1 200 ")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in head
    assert problem["type"] == "urn:sidecall:problem:too-many-connections"
    assert "the limit of 5 connections (SIDECALL_MAX_CONNECTIONS) is reached" in log


def test_who_is_refused_has_the_answer_although_the_request_still_comes(start_server: Serve) -> None:
    """In two writes, of which the second comes after the answer."""
    server = start_server(SIDECALL_MAX_CONNECTIONS="1")
    request = POST + b"Content-Length: 2\r\n\r\n"

    with connection(server) as kept:
        kept.sendall(GET + b"\r\n")
        kept.recv(65536)
        answers = []
        for _ in range(300):
            with connection(server) as sock:
                sock.sendall(request)
                sock.sendall(b"{}")
                answers.append(read_answer(sock)[0].partition(b"\r\n")[0])

    assert answers == [b"HTTP/1.1 503 Service Unavailable"] * 300


def test_many_who_are_refused_at_once_have_their_answers(start_server: Serve) -> None:
    """Although each sends its request only later, and some never close."""
    server = start_server(SIDECALL_MAX_CONNECTIONS="1")
    request = POST + b"Content-Length: 2\r\n\r\n"

    with connection(server) as kept, ExitStack() as stack:
        kept.sendall(GET + b"\r\n")
        kept.recv(65536)
        _idle = [stack.enter_context(connection(server)) for _ in range(100)]
        refused = [stack.enter_context(connection(server)) for _ in range(200)]
        for part in (request, b"{}"):
            for sock in refused:
                sock.sendall(part)
        answers = [read_answer(sock)[0].partition(b"\r\n")[0] for sock in refused]

    assert answers == [b"HTTP/1.1 503 Service Unavailable"] * 200


def test_when_no_file_can_be_opened_the_log_says_so(start_server: Serve, tmp_path: Path) -> None:
    """Once in a while, not for each connection that is lost."""
    (tmp_path / "mine.py").write_text(TOOLS)
    server = start_server("--tools", "mine.py", cwd=tmp_path)

    with httpx.Client(base_url=server.url) as kept:
        message = kept.post("/tool_calls", json={"name": "hoard", "args": {}}).json()
        with pytest.raises(httpx.HTTPError):
            CLIENT.get(f"{server.url}/healthz")
        server.wait_for("no more files can be opened")
        alive = kept.get("/healthz")

    assert message["content"] == "full"
    assert alive.status_code == 200
    assert server.stop() == 0
    assert server.log.count("no more files can be opened") == 1


@pytest.mark.parametrize("path", [b"/tool_calls", b"/tool_calls/batch", b"/approvals/some"])
@pytest.mark.parametrize(
    ("rest", "counted"),
    [
        (b"Content-Length: 10\r\n\r\n{", {("none", "408"): 1}),
        (b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n", {("none", "400"): 1}),
        (None, {}),
    ],
    ids=["a body that does not come", "a chunk that is none", "a client who hangs up"],
)
def test_a_request_that_breaks_off_is_counted_once_at_most(
    impatient: Server, path: bytes, rest: bytes | None, counted: dict[tuple[str, str], int]
) -> None:
    """By who answers it; nobody hears an answer of the other."""
    before = count_requests(impatient)
    head = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % path
    with connection(impatient) as sock:
        sock.sendall(head + (b"Content-Length: 10\r\n\r\n{" if rest is None else rest))
        if rest is not None:
            read_answer(sock)

    CLIENT.get(f"{impatient.url}/tools")  # Behind it.
    assert count_requests(impatient) - before == Counter({("/tools", "200"): 1, **counted})


def count_requests(server: Server) -> Counter[tuple[str, str]]:
    """Return how many requests a server has counted, by route and status, but for those that ask for it."""
    text = CLIENT.get(f"{server.url}/metrics").text
    found = re.findall(r'sidecall_requests_total{route="([^"]*)",status="(\d+)"} (\d+)', text)
    return Counter({(route, status): int(number) for route, status, number in found if route != "/metrics"})
