"""What clients have sent before a socket is closed is answered, without a time in which it must be read."""

import asyncio
import errno
import selectors
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.close_sockets import ignore_attempts, stop_listening, take_in
from sidecall.server.connection_limits import Connection, Connections
from sidecall.server.request_reader import RequestRoom
from tests.server.clients import Client, settle

REQUEST = b"POST / HTTP/1.1\r\nHost: sidecall\r\nContent-Length: 2\r\n\r\n{}"


async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer every request alike."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


class Listening:
    """A server's sockets, without its phases."""

    def __init__(self) -> None:
        self.lifecycle = Lifecycle()
        self.connections = Connections(self.lifecycle, Patience(), 100, 75, RequestRoom(1_000_000))
        self.config = uvicorn.Config(answer, log_config=None, ws="none")
        self.config.load()
        self.server: asyncio.Server

    async def open(self) -> None:
        """Begin to listen."""
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(
            lambda: Connection(self.config, self.connections, {}, loop), host="127.0.0.1", port=0
        )

    def connect(self) -> socket.socket:
        """Connect as another process does: the kernel makes the connection, whatever the event loop does."""
        return socket.create_connection(self.server.sockets[0].getsockname())


@pytest.fixture
async def listening() -> AsyncIterator[Listening]:
    """Give a server that listens."""
    made = Listening()
    await made.open()
    yield made
    made.server.close()
    for connection in made.connections.open:
        connection.transport.abort()
    await settle()


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    """Give what closes the clients' ends."""
    with ExitStack() as stack:
        yield stack


async def read(client: socket.socket) -> bytes:
    """Read what a client gets first."""
    return await asyncio.to_thread(client.recv, 65536)


@pytest.mark.parametrize("is_alone", [True, False])
async def test_who_is_connected_before_listening_ends_is_served(
    listening: Listening, clients: ExitStack, *, is_alone: bool
) -> None:
    """Although the server had not accepted any of them; the next one is refused."""
    address = listening.server.sockets[0].getsockname()
    made = [clients.enter_context(listening.connect()) for _ in range(20)]
    for client in made:
        client.sendall(REQUEST)

    await stop_listening([listening.server], is_alone=is_alone)
    answers = [await read(client) for client in made]

    assert [found[:15] for found in answers] == [b"HTTP/1.1 200 OK"] * 20
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)


async def test_attempts_to_connect_are_ignored_until_listening_ends(listening: Listening, clients: ExitStack) -> None:
    """Then the kernel of the client repeats them, and they are refused: no client takes itself for connected."""
    [listener] = listening.server.sockets
    address = listener.getsockname()
    before = clients.enter_context(listening.connect())
    assert ignore_attempts(listener)

    late = clients.enter_context(socket.socket())
    late.setblocking(False)
    begun = late.connect_ex(address)
    watch = clients.enter_context(selectors.DefaultSelector())
    watch.register(late, selectors.EVENT_WRITE)
    seen = watch.select(0)
    before.sendall(REQUEST)  # Which is no beginning.
    first = await read(before)
    listening.server.close()
    await asyncio.to_thread(watch.select)

    assert (begun, seen, first[:15]) == (errno.EINPROGRESS, [], b"HTTP/1.1 200 OK")
    assert late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED


async def test_a_request_on_a_kept_connection_is_read_before_it_is_closed(
    listening: Listening, clients: ExitStack
) -> None:
    """It has an answer, which says that the connection ends."""
    client = clients.enter_context(listening.connect())
    client.sendall(REQUEST)
    first = await read(client)
    listening.lifecycle.drain()
    client.sendall(REQUEST)

    await take_in(lambda: listening.connections.idle_sockets)
    second = await read(client)

    assert [found[:15] for found in (first, second)] == [b"HTTP/1.1 200 OK"] * 2
    assert b"connection: close" not in first
    assert b"connection: close" in second
    assert await read(client) == b""


async def _ask_before(client: Client) -> None:
    await client.send(REQUEST)


async def _ask_and_wait(client: Client) -> None:
    client.application.may_answer.clear()
    await client.send(REQUEST)


async def _hear_the_beginning(client: Client) -> None:
    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await client.application.may_answer.wait()
        await send({"type": "http.response.body", "body": b"b"})

    client.connection.serve(stream)
    await _ask_and_wait(client)


KEPT: dict[str, tuple[Callable[[Client], Awaitable[None]], list[bytes], bool]] = {
    "idle": (_ask_before, [b"200"], True),
    "a stream that has said that it is kept": (_hear_the_beginning, [b"200"], True),
    "not answered yet": (_ask_and_wait, [b"200"], False),
}


@pytest.mark.parametrize("name", KEPT)
async def test_a_draining_server_closes_only_after_it_has_said_so(name: str) -> None:
    """With the answer that is due, or with that to the next request."""
    prepare, statuses, is_open = KEPT[name]
    client = Client()
    await prepare(client)

    client.connection._lifecycle.drain()
    client.connection.discourage()
    client.application.may_answer.set()
    await settle()
    was = (client.statuses, client.wire.is_open)
    await client.send(REQUEST)

    assert was == (statuses, is_open)
    assert (client.statuses, client.wire.is_open) == ([b"200"] * (1 + is_open), False)
    assert b"".join(client.wire.pieces).count(b"connection: close") == 1
