"""A plain request is taken whole and its answer sent whole, with the same bytes as by the messages of ASGI."""

import asyncio
from typing import Any

import pytest
import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from sidecall.http.disconnect import LET_BE, DisconnectListener
from sidecall.http.fast_path import DirectResponse, Reply
from sidecall.http.request_id import HEADER, NOSNIFF
from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.connection_limits import Connection, Connections
from sidecall.server.request_reader import RequestRoom
from tests.kit.asgi import Wire

POST = b"POST / HTTP/1.1\r\nHost: sidecall\r\nContent-Length: 4\r\n\r\n"
DATE = [(b"date", b"Mon, 23 Nov 2026 10:00:00 GMT")]
PLAIN = Reply(b'{"a":1}')
ANSWERED = (
    b"HTTP/1.1 200 OK\r\ndate: Mon, 23 Nov 2026 10:00:00 GMT\r\ncontent-length: 7\r\ncontent-type: application/json\r\n"
    b'x-content-type-options: nosniff\r\nx-request-id: id-1\r\n\r\n{"a":1}'
)


class Server:
    """Answer each request of one client by its exchange where that can be done, else by messages."""

    def __init__(self, reply: Reply = PLAIN, *, asks: bool = True) -> None:
        self.reply, self.asks = reply, asks
        self.taken: list[bytes | None] = []
        self.answered: list[bool] = []
        config = uvicorn.Config(self.app, log_config=None, ws="none")
        config.load()
        self.shared = Connections(Lifecycle(), Patience(), 100, 5, RequestRoom(1_000_000_000))
        self.shared.default_headers = DATE
        state: dict[str, Any] = {}
        self.connection = Connection(config, self.shared, state, asyncio.get_running_loop())
        self.connection.serve(self.app)
        self.connection.access_log = False
        self.wire = Wire()
        self.connection.connection_made(self.wire)

    async def app(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one request."""
        exchange = send.__self__  # type: ignore[attr-defined]
        assert isinstance(exchange, DirectResponse)
        self.taken.append(exchange.take_body())
        if self.asks:
            self.answered.append(exchange.answer(self.reply, b"id-1"))
            if self.answered[-1]:
                return
        headers = [*self.reply.raw_headers, NOSNIFF, (HEADER, b"id-1")]
        await send({"type": "http.response.start", "status": self.reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.reply.body})

    async def get(self, *pieces: bytes) -> bytes:
        """Send a request in pieces, and return all that was written."""
        for piece in pieces:
            self.connection.data_received(piece)
            for _ in range(5):
                await asyncio.sleep(0)
        return b"".join(self.wire.pieces)


async def test_a_plain_answer_has_the_bytes_that_messages_make() -> None:
    """In one piece, and so has the next one."""
    asking, sending = Server(), Server(asks=False)

    answers = [await server.get(POST + b"body", POST + b"more") for server in (asking, sending)]

    assert answers == [ANSWERED * 2, ANSWERED * 2]
    assert (asking.taken, asking.answered, len(asking.wire.pieces)) == ([b"body", b"more"], [True, True], 2)


async def test_headers_of_its_own_are_written_in_their_place() -> None:
    """As messages would have them, and in one piece."""
    reply = Reply(b"{}", headers={"Preference-Applied": "wait=10", "Idempotency-Replayed": "true"})
    asking, sending = Server(reply), Server(reply, asks=False)

    answers = [await server.get(POST + b"body") for server in (asking, sending)]

    assert (answers[0], asking.answered, len(asking.wire.pieces)) == (answers[1], [True], 1)


async def test_the_date_is_that_of_the_answer() -> None:
    """Although its bytes are remembered for as long as it holds."""
    server = Server()
    await server.get(POST + b"body")
    server.shared.default_headers = [(b"date", b"Mon, 23 Nov 2026 10:00:01 GMT")]

    assert await server.get(POST + b"body") == ANSWERED + ANSWERED.replace(b"10:00:00", b"10:00:01")


CLOSING = POST.replace(b"Host", b"Connection: close\r\nHost")
NOT_PLAIN = [
    pytest.param(Reply(b"{}", headers={"Connection": "close"}), POST, {}, id="a header of its own frames it"),
    pytest.param(Reply(b"{}", headers={"A": "b\r\nC: d"}), POST, {}, id="a header is smuggled into another"),
    pytest.param(Reply(b"{}", 202), POST, {}, id="it is no 200"),
    pytest.param(Reply(b"x" * 300_000), POST, {}, id="it is large"),
    pytest.param(PLAIN, CLOSING, {}, id="the connection closes with it"),
    pytest.param(PLAIN, POST.replace(b"1.1", b"1.0"), {}, id="HTTP/1.0"),
    pytest.param(PLAIN, POST, {"access_log": True}, id="requests are logged"),
]


@pytest.mark.parametrize(("reply", "request_head", "changes"), NOT_PLAIN)
async def test_any_other_answer_is_sent_by_messages(reply: Reply, request_head: bytes, changes: dict[str, Any]) -> None:
    """With the bytes that it has without an exchange."""
    asking, sending = Server(reply), Server(reply, asks=False)
    for server in (asking, sending):
        for name, value in changes.items():
            setattr(server.connection, name, value)

    answers = [await server.get(request_head + b"body") for server in (asking, sending)]

    assert (answers[0], asking.answered) == (answers[1], [False])


class Streaming(Server):
    """Answer with a stream that has ended, whose length its headers do not say."""

    async def app(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one request."""
        exchange = send.__self__  # type: ignore[attr-defined]
        assert isinstance(exchange, DirectResponse)
        self.taken.append(exchange.take_body())
        own = [(name.lower().encode(), value.encode()) for name, value in self.reply.headers.items()]
        headers = [(b"content-type", b"text/event-stream"), *own]
        if self.asks:
            self.answered.append(exchange.answer_in_chunks(headers, self.reply.body))
            if self.answered[-1]:
                return
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self.reply.body})


_EVENT = b"event: message\ndata: {}\n\n"
_EVENTS = Reply(_EVENT, headers={"RateLimit": '"calls";r=9;t=1'})
_IN_CHUNKS = (
    b"HTTP/1.1 200 OK\r\ndate: Mon, 23 Nov 2026 10:00:00 GMT\r\ncontent-type: text/event-stream\r\n"
    b'ratelimit: "calls";r=9;t=1\r\ntransfer-encoding: chunked\r\n\r\n19\r\n' + _EVENT + b"\r\n0\r\n\r\n"
)


async def test_a_stream_that_has_ended_has_the_bytes_that_messages_make() -> None:
    """In one piece, and so has the next one."""
    asking, sending = Streaming(_EVENTS), Streaming(_EVENTS, asks=False)

    answers = [await server.get(POST + b"body", POST + b"more") for server in (asking, sending)]

    assert answers == [_IN_CHUNKS * 2, _IN_CHUNKS * 2]
    assert (asking.taken, asking.answered, len(asking.wire.pieces)) == ([b"body", b"more"], [True, True], 2)


@pytest.mark.parametrize(
    ("reply", "request_head", "changes"),
    [
        *(case for case in NOT_PLAIN if case.id != "it is no 200"),
        pytest.param(Reply(b""), POST, {}, id="nothing is in it"),
        pytest.param(Reply(b"{}", headers={"Content-Length": "2"}), POST, {}, id="it has a length"),
    ],
)
async def test_any_other_stream_is_sent_by_messages(reply: Reply, request_head: bytes, changes: dict[str, Any]) -> None:
    """With the bytes that it has without an exchange."""
    asking, sending = Streaming(reply), Streaming(reply, asks=False)
    for server in (asking, sending):
        for name, value in changes.items():
            setattr(server.connection, name, value)

    answers = [await server.get(request_head + b"body") for server in (asking, sending)]

    assert (answers[0], asking.answered) == (answers[1], [False])


async def test_a_client_that_does_not_read_is_waited_for() -> None:
    """By the messages, which can wait."""
    server = Server()
    server.connection.flow.pause_writing()
    before = await server.get(POST + b"body")
    server.connection.flow.resume_writing()

    assert (before, server.answered, await server.get()) == (b"", [False], b"")
    await asyncio.sleep(0)
    assert b"".join(server.wire.pieces) == ANSWERED


async def test_a_body_that_has_not_come_whole_is_not_taken() -> None:
    """It is to be received, and what answers before that does so by messages."""
    server = Server()

    answer = await server.get(POST + b"bo")

    assert (server.taken, server.answered, answer) == ([None], [False], ANSWERED)


async def test_a_client_that_waits_to_be_told_is_told() -> None:
    """Which only receiving does."""
    server = Server()

    await server.get(POST.replace(b"Host", b"Expect: 100-continue\r\nHost"))

    assert (server.taken, server.answered) == ([None], [False])


# What of uvicorn the exchange relies on, beside what it has overridden.
_OF_A_CYCLE = (
    "access_log body default_headers disconnected flow keep_alive message_event more_body on_response "
    "response_complete response_started transport waiting_for_100_continue"
).split()


async def test_uvicorn_has_what_an_exchange_relies_on() -> None:
    """A version that calls it otherwise has to be looked at."""
    found: list[bool] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        found.extend(name in vars(send.__self__) for name in _OF_A_CYCLE)  # type: ignore[attr-defined]

    server = Server()
    server.connection.serve(app)
    await server.get(POST + b"body")

    assert found == [True] * len(_OF_A_CYCLE)


class Watching(Server):
    """Take a while for each request, and hear of clients that leave."""

    def __init__(self, *, until_end: bool = True) -> None:
        super().__init__()
        self.until_end = until_end
        self.watched: list[bool] = []
        self.gone: list[str] = []

    async def app(self, _scope: Scope, receive: Receive, _send: Send) -> None:
        """Serve one request."""
        exchange = receive.__self__  # type: ignore[attr-defined]
        assert isinstance(exchange, DirectResponse)
        self.taken.append(exchange.take_body())
        self.watched += [exchange.watch(lambda: self.gone.append("gone")) for _ in range(2)]
        if not self.until_end:
            exchange.watch(None)
        await asyncio.Event().wait()

    async def lose(self, *pieces: bytes) -> None:
        """Have a client send these, and hang up."""
        await self.get(*pieces)
        self.connection.connection_lost(None)
        for task in self.shared.tasks:
            task.cancel()
        await asyncio.gather(*self.shared.tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("until_end", "pieces", "watched", "gone"),
    [
        pytest.param(True, [POST + b"body"], [True, False], ["gone"], id="once, for one who asks"),
        pytest.param(False, [POST + b"body"], [True, False], [], id="nobody asks any more"),
        pytest.param(True, [POST + b"bo"], [False, False], [], id="a body that has not come yet"),
    ],
)
async def test_the_leave_of_a_client_is_told(
    until_end: bool, pieces: list[bytes], watched: list[bool], gone: list[str]
) -> None:
    """Without a task that waits for it; where more of the request is to come, it has to be received."""
    server = Watching(until_end=until_end)

    await server.lose(*pieces)

    assert (server.watched, server.gone) == (watched, gone)


async def count_tasks(server: Server) -> int:
    """Return how many tasks there are for a slow request, whose client then leaves."""
    before = len(asyncio.all_tasks())
    await server.get(POST + b"body")
    await asyncio.sleep(2 * LET_BE)
    during = len(asyncio.all_tasks())
    server.connection.connection_lost(None)
    await asyncio.gather(*server.shared.tasks)
    return during - before


async def test_a_slow_call_has_no_task_beside_its_own() -> None:
    """What listens for its client is the connection."""
    seen: list[object] = []

    class Slow(Server):
        async def app(self, _scope: Scope, receive: Receive, _send: Send) -> None:
            """Serve one request."""
            receive.__self__.take_body()  # type: ignore[attr-defined]
            try:
                await DisconnectListener(receive).over(asyncio.sleep(60))
            except ClientDisconnect as error:
                seen.append(type(error))

    tasks = await count_tasks(Slow())

    assert (tasks, seen) == (1, [ClientDisconnect])


async def test_a_task_of_a_stream_ends_with_its_client() -> None:
    """Without a third task that listens."""
    seen: list[bool] = []

    class Stream(Server):
        async def app(self, _scope: Scope, receive: Receive, _send: Send) -> None:
            """Serve one request."""
            receive.__self__.take_body()  # type: ignore[attr-defined]
            work, listener = asyncio.create_task(asyncio.sleep(60)), DisconnectListener(receive)
            listener.watch_over(work)
            await asyncio.wait([work])
            listener.end()
            seen.append(work.cancelled())

    tasks = await count_tasks(Stream())

    assert (tasks, seen) == (2, [True])
