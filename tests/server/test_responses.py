"""A response whose length is known goes out in one piece, and nothing is lost between its head and its body."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.connection_limits import Connection, Connections
from sidecall.server.request_reader import RequestRoom
from sidecall.server.responses import Signal
from tests.kit.asgi import Wire

GET = b"GET / HTTP/1.1\r\nHost: sidecall\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n"


def _start(status: int = 200, **headers: str) -> Message:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": named}


def _body(body: bytes, more_body: bool = False) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more_body}


class Client:
    """Be connected to a server that answers as it is told, and see what is written, piece by piece."""

    def __init__(self, *messages: Message | Callable[[], Any], access_log: bool = False) -> None:
        self.messages = messages
        self.wire = Wire()
        config = uvicorn.Config(self.app, log_config=None, interface="asgi3", ws="none")
        config.load()
        self.shared = Connections(Lifecycle(), Patience(), 100, 5, RequestRoom(1_000_000_000))
        app_state: dict[str, Any] = {}
        self.connection = Connection(config, self.shared, app_state, asyncio.get_running_loop())
        self.connection.access_log = access_log
        self.connection.connection_made(self.wire)

    async def app(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send the messages; what is no message is called, and waited for."""
        for message in self.messages:
            if isinstance(message, dict):
                await send(message)
            elif (result := message()) is not None:
                await result
        if not self.messages:
            await receive()

    async def send(self, request: bytes = GET) -> list[bytes]:
        """Send a request, and give what was written until the server had nothing more to do."""
        self.connection.data_received(request)
        for _ in range(5):
            await asyncio.sleep(0)
        return self.wire.pieces


LENGTH = _start(content_length="2")


async def test_an_answer_is_written_at_once() -> None:
    """The head first, then the body."""
    assert await Client(LENGTH, _body(b"{}")).send() == [HEAD + b"\r\n{}"]


async def test_an_answer_without_a_body_is_written() -> None:
    """Its length is known: none."""
    pieces = await Client(_start(307, content_length="0", location="/docs"), _body(b"")).send()

    assert pieces == [b"HTTP/1.1 307 Temporary Redirect\r\ncontent-length: 0\r\nlocation: /docs\r\n\r\n"]


@pytest.mark.parametrize("status", [204, 304])
async def test_an_answer_that_has_no_body_waits_for_none(status: int) -> None:
    """Its head says nothing of a length."""
    held = asyncio.Event()

    pieces = await Client(_start(status, etag='"e"'), held.wait).send()

    assert b"".join(pieces).endswith(b'\r\netag: "e"\r\n\r\n')


async def test_the_head_of_a_stream_is_written_at_once() -> None:
    """It does not say how long the stream gets, and the first event may take a while."""
    held = asyncio.Event()

    pieces = await Client(_start(content_type="text/event-stream"), held.wait).send()

    assert pieces == [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"]


async def test_what_a_stream_says_is_never_taken_for_a_head() -> None:
    """Each event goes out when it comes."""
    event = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
    held = asyncio.Event()

    pieces = await Client(_start(), _body(event, more_body=True), held.wait).send()

    assert pieces[1:] == [b"%x\r\n%b\r\n" % (len(event), event)]


async def test_a_body_in_parts_is_written_in_parts() -> None:
    """Each when it comes."""
    pieces = await Client(LENGTH, _body(b"{", more_body=True), _body(b"}")).send()

    assert pieces == [HEAD + b"\r\n", b"{", b"}"]


async def test_head_is_answered_with_the_head() -> None:
    """Of the body nothing is written, and nothing waits for it."""
    client = Client(LENGTH, _body(b""))

    pieces = await client.send(b"HEAD / HTTP/1.1\r\nHost: sidecall\r\n\r\n")

    assert b"".join(pieces) == HEAD + b"\r\n"


async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked() -> None:
    """`100 Continue` is no answer yet."""
    request = b"POST / HTTP/1.1\r\nHost: sidecall\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"

    assert await Client().send(request) == [b"HTTP/1.1 100 Continue\r\n\r\n"]


async def test_a_client_that_was_asked_is_answered_in_one_piece() -> None:
    """As any other."""
    client = Client(lambda: client.connection.cycle.receive(), LENGTH, _body(b"ok"))
    request = b"POST / HTTP/1.1\r\nHost: sidecall\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}"

    assert await client.send(request) == [b"HTTP/1.1 100 Continue\r\n\r\n", HEAD + b"\r\nok"]


async def test_requests_on_one_connection_are_answered_one_by_one() -> None:
    """Each in one piece, also where they were sent ahead."""
    assert await Client(LENGTH, _body(b"{}")).send(GET + GET) == [HEAD + b"\r\n{}"] * 2


async def test_no_request_begins_with_what_another_has_set() -> None:
    """Neither one that was sent ahead, which begins where the one before it ends, nor one that comes later."""
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    seen = []

    def note() -> None:
        seen.append(variable.get())
        variable.set("set")

    client = Client(note, LENGTH, _body(b"{}"))
    await client.send(GET + GET)
    await client.send()

    assert seen == ["unset"] * 3


async def test_a_connection_that_is_not_kept_is_closed() -> None:
    """After the body, and the client is told so."""
    client = Client(LENGTH, _body(b"{}"))

    pieces = await client.send(b"GET / HTTP/1.0\r\nHost: sidecall\r\n\r\n")

    assert b"".join(pieces) == HEAD + b"connection: close\r\n\r\n{}"
    assert not client.wire.is_open


def _crash() -> None:
    raise RuntimeError("no body")


async def test_a_failure_after_the_head_is_answered_as_one(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of the answer was sent yet, so the client is told in one whole answer that there is none."""
    client = Client(LENGTH, _crash)

    pieces = await client.send()

    assert b"".join(pieces) == (
        b"HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 21\r\n"
        b"connection: close\r\n\r\nInternal Server Error"
    )
    assert not client.wire.is_open
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [RuntimeError]


async def test_an_answer_that_breaks_off_is_seen_to_do_so() -> None:
    """The client gets less than the head promises, and the end of the connection."""
    client = Client(LENGTH, _body(b"{", more_body=True), _crash)

    assert await client.send() == [HEAD + b"\r\n", b"{"]
    assert not client.wire.is_open


@pytest.mark.parametrize("body", [b"{", b"{}}"], ids=["shorter", "longer"])
async def test_a_body_of_another_length_is_a_failure(caplog: pytest.LogCaptureFixture, body: bytes) -> None:
    """Which uvicorn notices, and closes the connection on."""
    client = Client(LENGTH, _body(body))

    await client.send()

    assert not client.wire.is_open
    assert "Content-Length" in caplog.text


@pytest.mark.parametrize("value", ["a\r\nset-cookie: b", "a\nb", "a\rb", "a\0b"])
async def test_a_header_that_would_be_two_is_never_written(caplog: pytest.LogCaptureFixture, value: str) -> None:
    """Uvicorn refuses it."""
    client = Client(_start(content_length="2", x_sent=value), _body(b"{}"))

    pieces = await client.send()

    assert b"x-sent" not in b"".join(pieces)
    assert "Invalid HTTP header value." in caplog.text


async def test_an_answer_that_closes_its_connection_does() -> None:
    """As that to a body that is too large."""
    client = Client(_start(413, content_length="2", connection="close"), _body(b"{}"))

    pieces = await client.send()

    assert b"".join(pieces).endswith(b"\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
    assert not client.wire.is_open


async def test_a_client_that_has_gone_gets_nothing() -> None:
    """Neither head nor body."""
    client = Client(LENGTH, lambda: client.connection.connection_lost(None), _body(b"{}"))

    assert await client.send() == []


async def test_a_server_that_ends_answers_what_has_a_head_only() -> None:
    """The client has got nothing yet, so it is told to come again, in one whole answer."""
    held = asyncio.Event()
    client = Client(LENGTH, held.wait, _body(b"{}"))
    before = list(await client.send())
    await client.connection.interrupt()
    held.set()
    pieces = await client.send(b"")

    assert before == []
    assert b"".join(pieces).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"".join(pieces).count(b"HTTP/1.1 ") == 1
    assert b"urn:sidecall:problem:shutting-down" in b"".join(pieces)
    assert not client.wire.is_open


async def test_a_server_that_ends_leaves_an_answer_that_has_begun() -> None:
    """Which goes on where it was."""
    held = asyncio.Event()
    client = Client(LENGTH, _body(b"{", more_body=True), held.wait, _body(b"}"))
    await client.send()
    await client.connection.interrupt()
    held.set()

    assert await client.send(b"") == [HEAD + b"\r\n", b"{", b"}"]


async def test_a_body_that_never_comes_leaves_the_refusal_alone() -> None:
    """The client, too slow with its own body, gets one answer, not a head and an answer."""
    held = asyncio.Event()
    client = Client(LENGTH, held.wait)
    await client.send(b"POST / HTTP/1.1\r\nHost: sidecall\r\nContent-Length: 2\r\n\r\n")
    client.connection.look(0)
    client.connection.look(100)

    assert [piece.split(b"\r\n")[0] for piece in client.wire.pieces] == [b"HTTP/1.1 408 Request Timeout"]


async def test_where_requests_are_logged_uvicorn_logs_them(caplog: pytest.LogCaptureFixture) -> None:
    """Each once."""
    caplog.set_level("INFO", "uvicorn.access")

    await Client(LENGTH, _body(b"{}"), access_log=True).send()

    assert [record.getMessage() for record in caplog.records if record.name == "uvicorn.access"] == [
        ' - "GET / HTTP/1.1" 200'
    ]


async def test_a_client_that_does_not_read_is_waited_for() -> None:
    """What it has not read of earlier answers goes first."""
    client = Client(LENGTH, _body(b"{}"))
    client.connection.pause_writing()
    before = list(await client.send())
    client.connection.resume_writing()
    pieces = await client.send(b"")

    assert (before, pieces) == ([], [HEAD + b"\r\n{}"])


async def test_a_signal_wakes_all_who_wait() -> None:
    """Also where one has stopped waiting, and where it is cleared at once; who comes then waits for the next."""
    signal = Signal()
    waiting = [asyncio.ensure_future(signal.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)

    signal.set()
    await signal.wait()
    signal.clear()
    late = asyncio.ensure_future(signal.wait())
    woken = await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(it) for it in woken] == [asyncio.CancelledError, type(None), type(None)]
    assert not late.done()
    signal.set()
    await late


@pytest.mark.parametrize("is_set", [True, False])
def test_a_signal_tells_with_each_set(is_set: bool) -> None:
    """One that is set again has news again."""
    told: list[str] = []
    signal = Signal()
    if is_set:
        signal.set()
    signal.tell = partial(told.append, "set")

    signal.set()
    signal.set()

    assert told == ["set", "set"]


async def test_an_exchange_has_all_that_uvicorns_own_has() -> None:
    """It sets that by itself, and uvicorn's methods read it."""
    client = Client(_start(content_length="2"), _body(b"ok"))
    await client.send()
    ours: Any = client.connection.cycle
    theirs = RequestResponseCycle(*[ours] * 11)

    assert vars(ours).keys() - vars(theirs).keys() == {"task", "_head"}
    assert all(hasattr(ours, name) for name in vars(theirs))


@pytest.mark.parametrize("fails", [False, True])
async def test_a_request_is_in_flight_until_it_has_been_served(fails: bool) -> None:
    """Whether it is answered or fails."""
    client = Client()
    seen: list[int] = []

    def look() -> None:
        seen.append(len(client.shared.tasks))
        assert not fails

    client.messages = (look, _start(content_length="2"), _body(b"ok"), look)
    await client.send()

    assert seen == [1] if fails else [1, 1]
    assert not client.shared.tasks
