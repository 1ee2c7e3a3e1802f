"""How the trials' client reports answers, and connections that end without one."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.kit.lines import ask_once, call, get, together
from tests.kit.servers import read_metrics, total

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
CLOSING = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
METRICS = """# HELP calls_total Calls.
calls_total{tool="add",outcome="success"} 3.0
calls_total{tool="fail",outcome="tool_error"} 2.0
calls_total_of_others 7
"""


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[int]:
    """Answer every request with these bytes and close."""

    async def answer_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(answer_one, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("sent", "status", "body", "failure"),
    [
        pytest.param(PLAIN, 200, b"{}", "", id="with a length"),
        pytest.param(CHUNKED, 200, b"abcde", "", id="in chunks"),
        pytest.param(CLOSING, 503, b"", "", id="the last one"),
        pytest.param(PLAIN[:-1], 0, b"", "reset", id="cut off in the body"),
        pytest.param(CHUNKED[:-5], 0, b"", "reset", id="cut off in the chunks"),
        pytest.param(b"", 0, b"", "reset", id="no answer"),
    ],
)
async def test_an_answer_is_whole_or_none(sent: bytes, status: int, body: bytes, failure: str) -> None:
    """A partial answer is reported as a broken connection."""
    async with answering(sent) as port:
        answer = await ask_once(port, get("/"))

    assert (answer.status, answer.body, answer.failure) == (status, body, failure)


async def test_names_of_headers_are_in_lower_case() -> None:
    """However they were sent."""
    async with answering(PLAIN) as port:
        answer = await ask_once(port, get("/"))

    assert answer.headers == {"content-type": "application/json", "content-length": "2"}


async def test_nobody_listening_is_refused() -> None:
    """It is reported differently from a reset."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    assert (await ask_once(port, get("/"))).failure == "refused"


async def test_silence_is_late() -> None:
    """The client does not wait for ever."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = await ask_once(silent.getsockname()[1], get("/"), patience=0.01)

    assert (answer.status, answer.failure) == (0, "late")


async def test_many_ask_at_once() -> None:
    """Each on a connection of its own."""
    async with answering(PLAIN) as port:
        answers = await together(port, get("/"), 3)

    assert [answer.status for answer in answers] == [200, 200, 200]


def test_a_call_is_written_as_a_request() -> None:
    """It includes the length of its body."""
    assert call("add", a=1) == (
        b"POST /tool_calls HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: */*\r\n"
        b'content-length: 49\r\n\r\n{"name": "add", "args": {"a": 1}, "id": "call_1"}'
    )


def test_metrics_are_added_up_by_label() -> None:
    """Names that only begin alike are others."""
    metrics = read_metrics(METRICS)

    assert total(metrics, "calls_total") == 5.0
    assert total(metrics, "calls_total", 'outcome="success"') == 3.0
