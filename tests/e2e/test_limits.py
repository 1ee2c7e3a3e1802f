"""Limits hold on a real socket, where a body may be promised, endless or torn."""

from contextlib import suppress

import httpx
import pytest

from tests.kit.servers import CLIENT, Server
from tests.kit.sockets import POST, connection, read_all, read_answer

CHUNK = b"10000\r\n" + b" " * 65536 + b"\r\n"


@pytest.mark.parametrize("expect", [b"", b"Expect: 100-continue\r\n"], ids=["plain", "expecting"])
def test_a_body_that_is_promised_too_large_is_not_waited_for(impatient: Server, expect: bytes) -> None:
    """413 comes on the headers alone, and the connection is closed."""
    with connection(impatient) as sock:
        sock.sendall(POST + expect + b"Content-Length: 104857600\r\n\r\n")
        head, problem = read_answer(sock)

    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in head.lower()
    assert problem["detail"] == "The body is larger than the 65000 bytes that this server takes."


def test_an_endless_body_is_cut_off(impatient: Server) -> None:
    """413 comes once the limit is passed, and the client cannot go on for ever."""
    with connection(impatient) as sock:
        sock.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNK)
        head = sock.recv(65536)
        with pytest.raises(ConnectionError):
            any(iter(lambda: sock.sendall(CHUNK), "never"))

    assert head.startswith(b"HTTP/1.1 413 ")


def test_a_body_within_the_limit_is_taken_in_chunks(impatient: Server) -> None:
    """It need not say its length."""
    body = b'{"name": "nope", "args": {}}'
    with connection(impatient) as sock:
        sock.sendall(POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        sock.sendall(b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (5, body[:5], len(body) - 5, body[5:]))
        head, message = read_answer(sock)

    assert head.startswith(b"HTTP/1.1 200 ")
    assert message["content"].startswith("Error: nope is not a valid tool, try one of [")


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", id="a length of 5,000 digits"),
        pytest.param(POST + b"Content-Length: -1\r\n\r\n", id="a negative length"),
        pytest.param(
            POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", id="two lengths, smuggling"
        ),
        pytest.param(b"GET / HTTP/9\r\n\r\n", id="another version"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00", id="TLS"),
    ],
)
def test_what_is_not_http_is_refused(impatient: Server, request_bytes: bytes) -> None:
    """By the HTTP layer, which closes the connection; the server goes on."""
    with connection(impatient) as sock:
        sock.sendall(request_bytes)
        answer = read_all(sock)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert CLIENT.get(f"{impatient.url}/healthz").status_code == 200


def test_a_client_that_leaves_in_the_middle_is_no_defect(impatient: Server) -> None:
    """The log is not filled with tracebacks by clients that hang up."""
    with connection(impatient) as sock:
        sock.sendall(POST + b"Content-Length: 1000\r\n\r\n{")
    with suppress(httpx.HTTPError):
        CLIENT.get(f"{impatient.url}/healthz")
    alive = CLIENT.get(f"{impatient.url}/healthz")

    assert alive.status_code == 200
    assert "Exception in ASGI application" not in impatient.log
    assert "Traceback" not in impatient.log


def test_deep_nesting_does_not_end_the_process(impatient: Server) -> None:
    """A parser that recurs in C would end it without a trace."""
    response = CLIENT.post(
        f"{impatient.url}/tool_calls", content=b"[" * 4000, headers={"Content-Type": "application/json"}
    )

    assert response.status_code == 400
    assert CLIENT.get(f"{impatient.url}/healthz").status_code == 200
