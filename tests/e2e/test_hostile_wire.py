"""What is sent in strange pieces, too early, or not at all harms nobody: neither its sender nor others."""

import json
import resource
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.e2e.conftest import Serve
from tests.kit.servers import Server
from tests.kit.sockets import GET, POST, connection, read_all

BODY = json.dumps({"name": "echo", "args": {"text": "hello"}, "id": "call_1"}).encode()
TOOLS = '''
import asyncio
import sys

from sidecall import ToolContext, tool


@tool
async def echo(text: str, context: ToolContext) -> str:
    """Return the text, and who asked for it."""
    return f"{context.caller.subject}: {text}"


@tool
async def nap() -> str:
    """Sleep."""
    try:
        await asyncio.sleep(20)
    except asyncio.CancelledError:
        print("nobody waits", file=sys.stderr, flush=True)
        raise
    return "awake"
'''


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve tools that know their caller, who is named by a gateway."""
    file = tmp_path_factory.mktemp("tools") / "mine.py"
    Path(file).write_text(TOOLS)
    return start_server(
        "--tools", str(file), SIDECALL_CALLER_HEADER="X-Forwarded-User", SIDECALL_MAX_BODY_BYTES="1000000"
    )


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"foo"])
def test_a_body_after_an_upgrade_is_no_request(server: Server, protocol: bytes) -> None:
    """It comes later, as it does from clients that send head and body apart."""
    inner = POST + b"X-Forwarded-User: ceo\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
    with connection(server) as sock:
        sock.sendall(
            POST + b"Connection: Upgrade, close\r\nUpgrade: %b\r\nContent-Length: %d\r\n\r\n" % (protocol, len(inner))
        )
        time.sleep(0.1)
        sock.sendall(inner)
        answer = read_all(sock)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"malformed-json" in answer
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"hello" not in answer


def test_curl_that_would_like_http_2_can_call_tools(server: Server) -> None:
    """It asks for an upgrade with every request, and takes no for an answer."""
    headers = ["-H", "Content-Type: application/json"]
    command = ["curl", "-sS", "--http2", *headers, "-d", BODY.decode(), f"{server.url}/tool_calls"]
    answer = subprocess.run(command, capture_output=True, check=True, timeout=20)

    assert json.loads(answer.stdout)["content"] == "anonymous: hello"


def test_a_415_instead_of_a_100_closes(server: Server) -> None:
    """The body that may follow is nobody's request."""
    inner = POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
    head = b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\n"
    with connection(server) as sock:
        sock.sendall(head + b"Content-Length: %d\r\n\r\n" % len(inner))
        answer = read_all(sock)

    assert answer.startswith(b"HTTP/1.1 415 ")
    assert b"connection: close" in answer


def test_requests_behind_a_slow_one_take_no_memory(server: Server) -> None:
    """They stay where they are until it is their turn; who hangs up before that is noticed."""
    nap = json.dumps({"name": "nap", "args": {}}).encode()
    before = resident_bytes(server)
    with ExitStack() as stack:
        socks = [stack.enter_context(connection(server)) for _ in range(12)]
        for sock in socks:
            sock.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(nap) + nap)
            sock.setblocking(False)
        time.sleep(0.2)
        for sock in socks:
            send_some(sock, (GET + b"\r\n") * 12_000)
        time.sleep(1.5)
        began = time.monotonic()
        with connection(server) as sock:
            sock.sendall(GET + b"Connection: close\r\n\r\n")
            alive = read_all(sock)
        took = time.monotonic() - began
        grown = resident_bytes(server) - before
    end = time.monotonic() + 60
    while server.log.count("nobody waits") < 12 and time.monotonic() < end:
        time.sleep(0.1)

    assert alive.startswith(b"HTTP/1.1 200 ")
    assert took < 10
    assert grown < 30_000_000
    assert server.log.count("nobody waits") == 12


def resident_bytes(server: Server) -> int:
    """Return the memory that the server has."""
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * resource.getpagesize()


def send_some(sock: socket.socket, text: bytes) -> None:
    """Send as much as the network takes."""
    rest = memoryview(text)
    with suppress(BlockingIOError):
        while rest:
            rest = rest[sock.send(rest) :]


SIZED = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
IN_CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest.mark.parametrize(
    ("request_bytes", "status", "kind"),
    [
        pytest.param(POST.replace(b"1.1", b"2.0") + SIZED + b"\r\n" + BODY, 505, "unknown-version", id="HTTP/2.0"),
        pytest.param(POST.replace(b"1.1", b"0.9") + SIZED + b"\r\n" + BODY, 505, "unknown-version", id="HTTP/0.9"),
        pytest.param(POST.replace(b"1.1", b"1.7") + SIZED + b"\r\n" + BODY, 505, "unknown-version", id="HTTP/1.7"),
        pytest.param(POST.replace(b" HTTP/1.1", b"") + SIZED + b"\r\n" + BODY, 505, "unknown-version", id="none"),
        pytest.param(
            POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + IN_CHUNKS, 501, "unknown-coding", id="two codings"
        ),
        pytest.param(
            POST + b"Transfer-Encoding: gzip\r\n" + CHUNKED + b"\r\n" + IN_CHUNKS, 501, "unknown-coding", id="two lines"
        ),
        pytest.param(POST.replace(b"POST", b"DELETEX") + SIZED + b"\r\n" + BODY, 400, "bad-request", id="no method"),
        pytest.param(POST + CHUNKED + CHUNKED + b"\r\n" + IN_CHUNKS, 400, "bad-request", id="chunks of chunks"),
        pytest.param(
            POST.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n" + IN_CHUNKS, 400, "bad-request", id="chunks in HTTP/1.0"
        ),
        pytest.param(
            POST.replace(b" /", b" http://evil.example/") + SIZED + b"\r\n" + BODY, 400, "bad-request", id="two names"
        ),
        pytest.param(
            POST.replace(b" /", b" http://me@localhost/") + SIZED + b"\r\n" + BODY, 400, "bad-request", id="a user"
        ),
        pytest.param(
            POST.replace(b"calls ", b"calls#x ") + SIZED + b"\r\n" + BODY, 400, "bad-request", id="a fragment"
        ),
    ],
)
def test_a_strange_head_is_refused(server: Server, request_bytes: bytes, status: int, kind: str) -> None:
    """As a problem; the tool is not run, and neither is what comes behind."""
    with connection(server) as sock:
        sock.sendall(request_bytes + POST + SIZED + b"\r\n" + BODY)
        answer = read_all(sock)

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"content-type: application/problem+json" in head
    assert json.loads(body)["type"] == f"urn:sidecall:problem:{kind}"
    assert b"hello" not in answer


@pytest.mark.parametrize("host", [b"Host: evil.example\r\n", b""])
def test_the_name_in_a_target_is_judged(server: Server, host: bytes) -> None:
    """It is the name by which a web page came here, no matter what the header says, and also if there is none."""
    request = POST.replace(b" /", b" http://evil.example/").replace(b"Host: localhost\r\n", host)
    with connection(server) as sock:
        sock.sendall(request.replace(b"1.1", b"1.0") + SIZED + b"\r\n" + BODY)
        answer = read_all(sock)

    assert answer.startswith(b"HTTP/1.1 421 ")
    assert b"evil.example" in answer


def test_a_target_with_the_own_name_is_served(server: Server) -> None:
    """Some clients take every server for a proxy."""
    with connection(server) as sock:
        sock.sendall(POST.replace(b" /", b" http://localhost:80/") + b"Connection: close\r\n" + SIZED + b"\r\n" + BODY)
        answer = read_all(sock)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"anonymous: hello" in answer


def test_a_call_behind_a_large_body_is_answered(server: Server) -> None:
    """The end of the body and a part of the next head come in one packet."""
    large = BODY.replace(b"hello", b"a" * 200_000)
    head = POST + b"Content-Length: %d\r\n\r\n" % len(large)
    rest = POST + b"Connection: close\r\nX-Long: %b\r\n" % (b"b" * 5_000) + SIZED + b"\r\n" + BODY
    with connection(server) as sock:
        sock.sendall(head + large[:50])
        time.sleep(0.1)
        sock.sendall(large[50:] + rest[:1_000])
        time.sleep(0.1)
        sock.sendall(rest[1_000:])
        answer = read_all(sock)

    assert answer.count(b"HTTP/1.1 200 ") == 2
    assert b"anonymous: hello" in answer


def test_a_caller_may_end_in_any_letter(server: Server) -> None:
    """The last byte of this one is a blank in Latin-1."""
    with connection(server) as sock:
        head = POST + "X-Forwarded-User: Chloé à\r\nConnection: close\r\n".encode()
        sock.sendall(head + SIZED + b"\r\n" + BODY)
        answer = read_all(sock)

    assert json.loads(answer.partition(b"\r\n\r\n")[2])["content"] == "Chloé à: hello"


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Content-Type": "application/json"}, 413), ({"X-Large": "a" * 40_000}, 431)],
)
def test_an_answer_arrives_while_the_client_still_sends(server: Server, headers: dict[str, str], status: int) -> None:
    """It reads the answer only when it has sent all, as most clients do."""
    client = HTTPConnection(server.host, server.port, timeout=20)
    client.request("POST", "/tool_calls", b"a" * 20_000_000, headers)
    answer = client.getresponse()

    assert answer.status == status
    assert json.loads(answer.read())["status"] == status


def test_who_sends_without_end_after_its_answer_is_cut_off(server: Server) -> None:
    """It had its time."""
    with connection(server) as sock:
        sock.sendall(POST + b"Content-Length: 100000000000\r\n\r\n")
        head = sock.recv(65536)
        with pytest.raises(ConnectionError):
            sock.sendall(b"a" * 200_000_000)

    assert head.startswith(b"HTTP/1.1 413 ")
