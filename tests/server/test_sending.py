"""A client that reads slowly is served; one that reads nothing is cut off. The systems' buffers hide neither."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from sidecall.http.server_sent_events import PIECE
from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.connection_limits import Connection, Connections, bound_unsent, count_untaken
from sidecall.server.request_reader import RequestRoom
from tests.kit.waiting import until

SIZE = 8_000_000
# Seconds between two looks in these tests, of which two without a step are too long.
APART = 20.0
HEAD = b"%s HTTP/1.1\r\nHost: sidecall\r\nContent-Length: 0\r\n%s\r\n"


async def answer(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer with more than systems take at once: whole, as a file is sent, or as events are."""
    way = scope["path"]
    length = [] if way == "/stream" else [(b"content-length", b"%d" % SIZE)]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    piece = SIZE if way == "/whole" else PIECE
    for start in range(0, SIZE, piece):
        body = b"x" * min(piece, SIZE - start)
        await send({"type": "http.response.body", "body": body, "more_body": start + piece < SIZE or not length})
    if not length:
        await send({"type": "http.response.body"})


class Served:
    """A server of one process, whose looks are taken by hand, and its one client."""

    def __init__(self, shared: Connections, sock: socket.socket) -> None:
        self._shared = shared
        self._sock = sock
        self.now = 0.0
        self.got = 0

    @property
    def connection(self) -> Connection | None:
        """The connection as the server has it, if it has not ended."""
        return next(iter(self._shared.open), None)

    async def ask(self, way: str, headers: bytes = b"") -> None:
        """Send a request, and wait until the client has to read before more can be sent."""
        await asyncio.get_running_loop().sock_sendall(self._sock, HEAD % (b"GET /" + way.encode(), headers))
        await until(lambda: self.connection is not None and self.untaken > 0)
        before = -1
        while before != self.untaken:
            before = self.untaken
            await asyncio.sleep(0.2)

    @property
    def untaken(self) -> int:
        """The bytes that the client has not taken; none when the connection has ended."""
        return count_untaken(self.connection.transport) if self.connection else 0

    async def read(self) -> bool:
        """Read until the server sees it; return whether there was anything."""
        loop, before = asyncio.get_running_loop(), self.untaken
        while self.connection is not None and self.untaken == before:
            data = await loop.sock_recv(self._sock, 2048)
            self.got += len(data)
            if not data:
                return False
            await asyncio.sleep(0)
        return self.connection is not None

    async def read_rest(self) -> None:
        """Read what is left after the end of the connection."""
        while data := await asyncio.get_running_loop().sock_recv(self._sock, 65536):
            self.got += len(data)

    def look(self) -> None:
        """Look at the connection a good while later."""
        self.now += APART
        if self.connection is not None:
            self.connection.look(self.now)


@pytest.fixture(params=["tcp", "unix"])
async def served(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Served]:
    """Serve a client that has little room for what it has not read."""
    config = uvicorn.Config(answer, log_config=None)
    config.load()
    shared = Connections(Lifecycle(), Patience(), 100, 5, RequestRoom(1_000_000_000))
    loop = asyncio.get_running_loop()

    def connect() -> Connection:
        return Connection(config, shared, {}, loop)

    async with AsyncExitStack() as stack:
        if request.param == "tcp":
            server = await loop.create_server(connect, "127.0.0.1", 0)
            sock = socket.socket()
        else:
            server = await loop.create_unix_server(connect, tmp_path / "s")
            sock = socket.socket(socket.AF_UNIX)
        await stack.enter_async_context(server)
        stack.callback(sock.close)
        bound_unsent(server.sockets)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        sock.setblocking(False)
        await loop.sock_connect(sock, server.sockets[0].getsockname())
        yield Served(shared, sock)
        for connection in shared.open:
            connection.transport.abort()


ways = pytest.mark.parametrize("way", ["whole", "pieces", "stream"])
ends = pytest.mark.parametrize("headers", [b"", b"Connection: close\r\n"], ids=["kept alive", "closing"])


@ways
@ends
async def test_a_client_that_reads_slowly_is_not_cut_off(served: Served, way: str, headers: bytes) -> None:
    """It takes something between two looks, though far less than makes room for more in the system."""
    await served.ask(way, headers)
    for _ in range(60):
        served.look()
        assert await served.read()
    served.look()

    assert served.connection is not None
    assert served.got < SIZE / 4


@ways
@ends
async def test_a_client_that_stops_reading_is_cut_off(served: Served, way: str, headers: bytes) -> None:
    """Also one that has read before."""
    await served.ask(way, headers)
    served.look()
    await served.read()
    served.look()
    seen = served.connection is not None
    for _ in range(3):
        served.look()
    await until(lambda: served.connection is None)

    assert seen


async def test_a_client_that_reads_slowly_gets_all(served: Served) -> None:
    """What the system still has when nothing is wanted of the client any more arrives, too."""
    await served.ask("pieces")
    while await served.read():
        served.look()
    await served.read_rest()

    assert served.got > SIZE
