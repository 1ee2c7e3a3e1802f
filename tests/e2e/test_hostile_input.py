"""What no program would send is refused or taken as the documentation says, and the server goes on."""

import asyncio
import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.e2e.hub import TOOLS, Hub
from tests.kit.servers import CLIENT, Server

HEAD = b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
REPEAT = '''

@tool
async def repeat(value=None):
    """Repeat a value."""
    return {"value": value}
'''


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve with the settings that ship."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "mine.py").write_text(TOOLS + REPEAT)
    return start_server("--tools", "mine.py", cwd=folder)


@contextmanager
def connection(server: Server) -> Iterator[socket.socket]:
    """Open a socket to the server."""
    with socket.create_connection((server.host, server.port), timeout=20) as sock:
        yield sock


def post(server: Server, body: bytes, **headers: str) -> httpx.Response:
    """Send a body as it is."""
    return CLIENT.post(
        f"{server.url}/tool_calls", content=body, headers={"Content-Type": "application/json", **headers}
    )


def call(value: bytes) -> bytes:
    """Write a call with this argument."""
    return b'{"name": "repeat", "args": {"value": %s}}' % value


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        pytest.param(b"[" * 100_000, 400, "malformed-json", id="100,000 levels, not closed"),
        pytest.param(call(b"[" * 100_000 + b"]" * 100_000), 413, "body-too-large", id="100,000 levels"),
        pytest.param(call(b"1" * 5000), 400, "malformed-json", id="5,000 digits"),
        pytest.param(call(b"NaN"), 400, "malformed-json", id="NaN"),
        pytest.param(call(b"-Infinity"), 400, "malformed-json", id="Infinity"),
        pytest.param(call(b"1e400"), 400, "malformed-json", id="a number that rounds to infinity"),
        pytest.param(call(b'"\\ud800"'), 400, "malformed-json", id="a lone surrogate"),
        pytest.param(call(b'"\xff\xfe"'), 400, "malformed-json", id="bytes that are no UTF-8"),
        pytest.param(b"\xef\xbb\xbf" + call(b"1"), 400, "malformed-json", id="a byte order mark"),
        pytest.param(call(b"1").decode().encode("utf-16"), 400, "malformed-json", id="UTF-16"),
        pytest.param(b"", 400, "malformed-json", id="nothing"),
        pytest.param(b" " * 4_194_305, 413, "body-too-large", id="one byte over the limit"),
        pytest.param(b"{" + b'"a":0,' * 400_000 + b'"a":0}', 413, "body-too-large", id="400,000 equal keys"),
        pytest.param(b"{" + b'"a":0,' * 40_000 + b'"a":0}', 422, "not-a-tool-call", id="40,000 equal keys"),
    ],
)
def test_a_json_bomb_is_refused(server: Server, body: bytes, status: int, kind: str) -> None:
    """With a problem that says what it is; the next request finds the server well."""
    response = post(server, body)

    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["type"] == f"urn:sidecall:problem:{kind}"
    assert CLIENT.get(f"{server.url}/healthz").status_code == 200


@pytest.mark.parametrize(
    ("value", "content"),
    [
        pytest.param(b'"\\u0000"', '{"value": "\\u0000"}', id="NUL, which is a character like others"),
        pytest.param(b'1, "value": 2', '{"value": 2}', id="equal keys, of which the last counts"),
        pytest.param(b"1e308", '{"value": 1e+308}', id="a large number"),
        pytest.param(b'"\\ud83d\\ude00"', '{"value": "😀"}', id="a pair of surrogates"),
    ],
)
def test_what_is_odd_but_right_is_taken(server: Server, value: bytes, content: str) -> None:
    """JSON allows it, and nobody is harmed by it."""
    assert post(server, call(value)).json()["content"] == content


def test_a_compressed_body_is_refused(server: Server) -> None:
    """It is not inflated, and the client is told that it is the coding that is not taken."""
    response = post(server, gzip.compress(call(b"1")), **{"Content-Encoding": "gzip"})

    assert response.status_code == 415
    assert response.json()["type"] == "urn:sidecall:problem:unsupported-media-type"


def test_a_body_in_tiny_chunks_is_cut_off(server: Server) -> None:
    """Each costs as much as a large one."""
    with connection(server) as sock:
        sock.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 20_000)
        answer = b"".join(iter(lambda: sock.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Its body comes in too many tiny chunks." in answer


def test_what_is_no_request_waits_for_the_answer_before_it(server: Server) -> None:
    """Then the connection is closed."""
    body = call(b"1")
    with connection(server) as sock:
        sock.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body + b"\x16\x03\x01 no HTTP\r\n\r\n")
        answer = b"".join(iter(lambda: sock.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nconnection: close\r\n" in answer


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", id="two lengths"),
        pytest.param(HEAD + b"Content-Length: +2\r\n\r\n{}", id="a length with a sign"),
        pytest.param(HEAD + b"Content-Length: 2, 2\r\n\r\n{}", id="a list of lengths"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", id="a chunk of no length"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", id="a chunk of 2**64 bytes"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n", id="a chunk that is longer"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", id="chunks not last"),
        pytest.param(GET + b"Content-Length : 0\r\n\r\n", id="a space before a colon"),
        pytest.param(GET + b"X: a\x00b\r\n\r\n", id="NUL in a header"),
        pytest.param(GET + b"X: a\rTransfer-Encoding: chunked\r\n\r\n", id="a bare CR in a header"),
    ],
)
def test_framing_that_can_be_read_in_two_ways_is_refused(server: Server, request_bytes: bytes) -> None:
    """A proxy in front may read it in the other one; the connection is closed."""
    with connection(server) as sock:
        sock.sendall(request_bytes)
        answer = b"".join(iter(lambda: sock.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in answer


async def test_who_sent_requests_ahead_and_hangs_up_cancels_the_one_that_runs(server: Server) -> None:
    """As any other client does, and it is no defect that the log has to tell of."""
    async with Hub() as hub:
        body = json.dumps({"name": "slow", "args": {"port": hub.port, "name": "a"}}).encode()
        _, writer = await asyncio.open_connection(server.host, server.port)
        writer.write((HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body) * 2)
        await hub.hears("a began")
        writer.close()
        await hub.hears("a cleaned up")
        lines = list(hub.lines)

    assert lines == ["a began", "a cancelled", "a cleaned up"]
    assert "Traceback" not in server.log
