"""What requests take of memory before they are answered is bounded, on all connections together."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.connection_limits import Connection, Connections
from sidecall.server.request_reader import RequestRoom
from tests.server.clients import Application

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n"
STALLED = HEAD + b"a" * 40_000
SMALL = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n" + b"a" * 10_000
WHOLE = HEAD + b"a" * 50_000


@dataclass
class Answer:
    """What a client got."""

    status: int
    headers: bytes
    body: bytes


@dataclass
class Client:
    """A client over a socket."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, *texts: bytes) -> None:
        """Send, as far as anybody takes it."""
        for text in texts:
            self.writer.write(text)
            await self.writer.drain()

    async def read(self) -> Answer:
        """Read one answer."""
        async with asyncio.timeout(20):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
            return Answer(int(head[9:12]), head.lower(), await self.reader.readexactly(length))

    async def close(self) -> None:
        """Hang up."""
        self.writer.transport.abort()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


@dataclass
class Served:
    """A server on a port, whose time stands still."""

    application: Application
    shared: Connections
    port: int
    clients: list[Client] = field(default_factory=list)

    async def connect(self, *texts: bytes) -> Client:
        """Connect a client that sends something."""
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        await client.send(*texts)
        return client

    def look(self, *moments: float) -> None:
        """Look at the connections."""
        for moment in moments:
            self.shared.sweep(moment)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something."""
        for _ in range(20_000):
            if is_so():
                return
            await asyncio.sleep(0.001)
        raise TimeoutError

    async def until_kept(self, size: int) -> None:
        """Wait until so many bytes are kept."""
        await self.until(lambda: self.shared.room.used == size)


@asynccontextmanager
async def serving(most: int, *, is_quick: bool = True) -> AsyncIterator[Served]:
    """Serve with so much room; in the end none of it may be taken."""
    application = Application()
    if is_quick:
        application.may_answer.set()
    config = uvicorn.Config(application, log_config=None, ws="none")
    config.load()
    shared = Connections(Lifecycle(), Patience(), 100, 5, RequestRoom(most))
    loop = asyncio.get_running_loop()
    state: dict[str, Any] = {}
    server = await loop.create_server(lambda: Connection(config, shared, state, loop), "127.0.0.1", 0)
    served = Served(application, shared, server.sockets[0].getsockname()[1])
    try:
        yield served
    finally:
        application.may_answer.set()
        for client in served.clients:
            await client.close()
        server.close()
        await served.until(lambda: not shared.connections and not shared.tasks)
        assert shared.room.used == 0


async def test_bodies_that_find_no_room_are_refused() -> None:
    """Those that have some keep it, for a moment."""
    async with serving(100_000) as server:
        for count in (1, 2):
            await server.connect(STALLED)
            await server.until_kept(count * 40_000)
        third = await server.connect(STALLED)
        answer = await third.read()
        problem = json.loads(answer.body)

        assert answer.status == 503
        assert b"retry-after: 1\r\n" in answer.headers
        assert b"connection: close\r\n" in answer.headers
        assert (problem["type"], problem["retryable"]) == ("urn:sidecall:problem:too-many-bytes", True)
        assert server.shared.room.used == 80_000
        assert server.application.seen == []


async def test_who_stalls_gives_way_to_who_comes() -> None:
    """After a moment, the first first; its answer arrives, though it sends on."""
    async with serving(120_000) as server:
        first = await server.connect(STALLED)
        await server.until_kept(40_000)
        server.look(0, 0.5)
        second = await server.connect(STALLED)
        await server.until_kept(80_000)
        server.look(1, 1.5)
        honest = await server.connect(WHOLE)

        assert (await honest.read()).status == 200
        await first.send(b"a" * 1_000_000)
        assert (await first.read()).status == 503
        await second.send(b"a" * 10_000)
        assert (await second.read()).status == 200


async def test_small_bodies_find_room_while_large_ones_stall() -> None:
    """An eighth is kept for them."""
    async with serving(80_000) as server:
        await server.connect(STALLED)
        await server.until_kept(40_000)
        assert (await (await server.connect(STALLED)).read()).status == 503
        await server.connect(HEAD + b"a" * 30_000)
        await server.until_kept(70_000)
        small = await server.connect(SMALL)

        assert (await small.read()).status == 200
        assert server.shared.room.used == 70_000


async def test_what_was_answered_takes_no_room() -> None:
    """On one connection, and on those that are closed."""
    async with serving(60_000) as server:
        client = await server.connect()
        for _ in range(5):
            await client.send(WHOLE)
            assert (await client.read()).status == 200
        assert server.shared.room.used == 0

        gone = await server.connect(STALLED)
        await server.until_kept(40_000)
        await gone.close()
        await server.until_kept(0)


async def test_a_call_that_runs_keeps_its_room() -> None:
    """A client that finds none meanwhile is refused, and may come again."""
    async with serving(60_000, is_quick=False) as server:
        slow = await server.connect(WHOLE)
        await server.until_kept(50_000)
        server.look(0, 0.5, 1)
        late = await (await server.connect(WHOLE)).read()
        server.application.may_answer.set()

        assert late.status == 503
        assert (await slow.read()).status == 200
        assert (await (await server.connect(WHOLE)).read()).status == 200


async def test_what_is_sent_ahead_shares_the_room() -> None:
    """Where it finds none, the connection ends with the answer that is due."""
    async with serving(60_000, is_quick=False) as server:
        slow = await server.connect(WHOLE)
        await server.until_kept(50_000)
        ahead = await server.connect(GET + GET * 2000)
        await server.until(lambda: len(server.shared.tasks) == 2)
        await server.until_kept(50_000)
        server.application.may_answer.set()

        answer = await ahead.read()
        assert (answer.status, b"connection: close" in answer.headers) == (200, True)
        assert (await slow.read()).status == 200


async def test_a_408_arrives_at_a_client_that_still_sends() -> None:
    """It is not reset, so it reads the answer once it has sent all."""
    async with serving(1_000_000) as server:
        client = await server.connect(STALLED)
        await server.until_kept(40_000)
        server.look(0, 100)
        await client.send(*[b"a" * 100_000] * 20)
        answer = await client.read()

        assert answer.status == 408
        assert json.loads(answer.body)["type"] == "urn:sidecall:problem:request-timeout"
